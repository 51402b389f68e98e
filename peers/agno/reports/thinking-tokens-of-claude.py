"""The tokens that Claude thinks with are not read.

Anthropic reports the tokens of thinking in `usage.output_tokens_details.thinking_tokens`. `Claude` does not read
them, and `reasoning_tokens` is 0.

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.anthropic import Claude

SENT = (
    b'{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","c'
    b'ontent":[{"type":"thinking","thinking":"Six times seven.","signature":"c2ln"},{"type":"tex'
    b't","text":"42."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":12'
    b',"output_tokens":30,"output_tokens_details":{"thinking_tokens":21}}}'
)


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
    answer = Agent(
        model=Claude(id="claude-sonnet-4-5", api_key="key", client_params={"base_url": url, "max_retries": 0})
    ).run("Hi")
    return f"reasoning_tokens {answer.metrics.reasoning_tokens}", answer.metrics.reasoning_tokens != 21


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "thinking_tokens 21")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
