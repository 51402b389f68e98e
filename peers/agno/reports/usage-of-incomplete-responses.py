"""The token counts of a streamed response that was cut off are lost.

A response that reaches `max_output_tokens` ends with the event `response.incomplete`, which has the usage.
`OpenAIResponses` reads the usage of `response.completed` only, so that all counts of such an answer are 0.

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
    b"event: response.output_text.delta\n"
    b'data: {"type":"response.output_text.delta","sequence_number":0,"item_id":"msg_1","output_i'
    b'ndex":0,"content_index":0,"delta":"The three steps are","logprobs":[]}\n'
    b"\n"
    b"event: response.incomplete\n"
    b'data: {"type":"response.incomplete","sequence_number":0,"response":{"id":"resp_1","object"'
    b':"response","created_at":1790000000,"status":"incomplete","model":"gpt-5","output":[],"par'
    b'allel_tool_calls":true,"tools":[],"tool_choice":"auto","error":null,"incomplete_details":{'
    b'"reason":"max_output_tokens"},"usage":{"input_tokens":11,"input_tokens_details":{"cached_t'
    b'okens":0},"output_tokens":16,"output_tokens_details":{"reasoning_tokens":0},"total_tokens"'
    b":27}}}\n"
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
    answer = None
    for event in Agent(model=OpenAIResponses(id="gpt-5", api_key="key", base_url=url, max_retries=0)).run(
        "Hi", stream=True, yield_run_output=True
    ):
        answer = event
    used = answer.metrics.output_tokens if answer.metrics else 0
    return f"{used} output tokens for {answer.content!r}", used != 16


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "response.incomplete with 11 input tokens and 16 output tokens")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
