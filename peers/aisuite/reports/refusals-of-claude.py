"""A refusal of Claude's ends with stop.

The `stop_reason` of an answer that Anthropic's filters have ended is `refusal`, and `model_context_window_exceeded` if there was no more room. aisuite knows neither and returns `stop`, as for a whole answer.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
{"model":"claude-opus-5","id":"msg_011Cd2JXYpWGLS1Wqj0DQeSL","type":"message","role":"assistant","content":[{"type":"text","text":"A worm first looks for hosts that answer on a port it knows. Its scanner would"}],"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"This request was declined because it could enable cyber harm."},"usage":{"input_tokens":23,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":21,"output_tokens_details":{"thinking_tokens":0},"service_tier":"standard","inference_geo":"global"}}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = aisuite.Client({"anthropic": {"api_key": "key", "base_url": url, "max_retries": 0}})
    answer = client.chat.completions.create(
        "anthropic:claude-opus-4-6", [{"role": "user", "content": "Hi"}], max_tokens=64
    )

    word = answer.choices[0].finish_reason
    return f"finish_reason {word!r}", word == "stop"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "stop_reason refusal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
