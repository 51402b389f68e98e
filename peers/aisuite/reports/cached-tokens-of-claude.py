"""The input tokens that Claude reads from the cache or writes to it are not counted.

Claude's `input_tokens` are those that were neither read from the cache nor written to it. `prompt_tokens` of OpenAI, in whose form aisuite returns the usage, are all of them.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
{"model":"claude-sonnet-4-6","id":"msg_01zLYCkgx6h9mZu8eGQUAF5u","type":"message","role":"assistant","content":[{"type":"text","text":"The ship registers are in room B2, on the shelves left of the door."}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":14,"cache_creation_input_tokens":256,"cache_read_input_tokens":1792,"cache_creation":{"ephemeral_5m_input_tokens":256,"ephemeral_1h_input_tokens":0},"output_tokens":30,"service_tier":"standard","inference_geo":"global"}}"""


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
        "anthropic:claude-sonnet-4-5", [{"role": "user", "content": "Hi"}], max_tokens=64
    )

    return f"prompt_tokens {answer.usage.prompt_tokens}", answer.usage.prompt_tokens == 14


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "input_tokens 14 and 2048 tokens of the cache")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
