"""The tokens that Gemini thinks with are not in the total.

Gemini counts its thinking in `thoughtsTokenCount`, beside `candidatesTokenCount`, and adds both to
`totalTokenCount`. Agno's `output_tokens` are the candidates' alone, and `total_tokens` is not Gemini's total, but
input and output added up. The thinking is in `reasoning_tokens`. `toolUsePromptTokenCount` is not read.

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
from agno.models.google import Gemini

SENT = (
    b'{"candidates":[{"content":{"role":"model","parts":[{"text":"42."}]},"finishReason":"STOP"}'
    b'],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":7,"totalTokenCount":204,"th'
    b'oughtsTokenCount":188}}'
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
        model=Gemini(id="gemini-2.5-flash", api_key="key", client_params={"http_options": {"base_url": url}})
    ).run("Hi")
    metrics = answer.metrics
    return f"output_tokens {metrics.output_tokens}, total_tokens {metrics.total_tokens}", metrics.total_tokens != 204


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "9 prompt, 188 thoughts, 7 candidates, total 204")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
