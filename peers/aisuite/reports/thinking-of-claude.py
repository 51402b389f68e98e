"""Claude's thinking is dropped.

aisuite has `reasoning_content` for the reasoning of a message. It reads none of Claude's thinking blocks, and does not send them back, which Anthropic refuses in a request with the result of a tool.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
{"model":"claude-sonnet-5","id":"msg_01go3bxPb3rezeCAPFqTD8aj","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"The user wants the year of Rosalind's X-ray plate. Her assistant exposed it \xe2\x80\x94 May of '52, the sharpest B-form image of that time.","signature":"ErUBCkgICxgCKkDTOft8N/vfM0lOtDf+l8FudChTAt66xqt5WBPSehAGqy56bsiGOWasquiM0a9k6cxooyBx4wLACP4/0aZcipCLU2cNTdSsGFNHMAMliqN4AFe8HOWgmdkcOgxq86TeZtwYAQ=="},{"type":"text","text":"Raymond Gosling made it in 1952 \xe2\x80\x94 as Franklin\xe2\x80\x99s doctoral student at King\xe2\x80\x99s College London."}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":44,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":71,"service_tier":"standard","inference_geo":"global"}}"""


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

    reasoning = getattr(answer.choices[0].message, "reasoning_content", None)
    return f"reasoning_content {reasoning!r}", not reasoning


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a thinking block and a text block")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
