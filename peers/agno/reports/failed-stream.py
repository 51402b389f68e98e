"""A streamed response of OpenAI that fails ends like one that succeeds.

If a streamed response fails, OpenAI sends the event `response.failed`. `OpenAIResponses` has no branch for it, and
the run is completed. Without streaming, a response with an error raises ModelProviderError.

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
from agno.models.openai import OpenAIResponses

SENT = (
    b"event: response.created\n"
    b'data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"r'
    b'esponse","created_at":1790000000,"status":"in_progress","model":"gpt-5","output":[],"paral'
    b'lel_tool_calls":true,"tools":[],"tool_choice":"auto","error":null,"incomplete_details":nul'
    b'l,"usage":null}}\n'
    b"\n"
    b"event: response.failed\n"
    b'data: {"type":"response.failed","sequence_number":0,"response":{"id":"resp_1","object":"re'
    b'sponse","created_at":1790000000,"status":"failed","model":"gpt-5","output":[],"parallel_to'
    b'ol_calls":true,"tools":[],"tool_choice":"auto","error":{"code":"rate_limit_exceeded","mess'
    b'age":"Slow down."},"incomplete_details":null,"usage":null}}\n'
    b"\n"
)


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    from agno.run.base import RunStatus

    answer = None
    for event in Agent(model=OpenAIResponses(id="gpt-5", api_key="key", base_url=url, max_retries=0)).run(
        "Hi", stream=True, yield_run_output=True
    ):
        answer = event
    return f"a run with the status {answer.status}, content {answer.content!r}", answer.status == RunStatus.completed


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "response.failed with the error rate_limit_exceeded: Slow down.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
