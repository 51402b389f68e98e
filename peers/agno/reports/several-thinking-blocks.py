"""Of several thinking blocks of Claude the last one alone is kept.

Claude may think more than once in one answer: between tool calls, or around a redacted block. In a plain answer
`Claude` assigns each block to `reasoning_content`, so that the last one replaces those before. In a stream they are
all there. (`provider_data` keeps the blocks for the next turn; what a program shows as reasoning lacks them.)

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
    b'ontent":[{"type":"thinking","thinking":"First I look at the question.","signature":"c2ln"}'
    b',{"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"thinking","thinking":" Now I know'
    b'.","signature":"c2ln"},{"type":"text","text":"42."}],"stop_reason":"end_turn","stop_sequen'
    b'ce":null,"usage":{"input_tokens":12,"output_tokens":30}}'
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
    return f"reasoning_content {answer.reasoning_content!r}", "First" not in (answer.reasoning_content or "")


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "thinking 'First I look at the question.' and thinking ' Now I know.'")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
