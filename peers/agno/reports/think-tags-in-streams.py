"""Think tags stay in the text of streams.

A server leaves the reasoning between think tags. In a stream of `OpenAILike` it stays in the content, tags
included, and there is no `reasoning_content`. Reported in https://github.com/agno-agi/agno/pull/6654, whose change
is not in this release.

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
from agno.models.openai.like import OpenAILike

SENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"qw'
    b'en3","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}'
    b"]}\n"
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"qw'
    b'en3","choices":[{"index":0,"delta":{"content":"<think>"},"finish_reason":null}]}\n'
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"qw'
    b'en3","choices":[{"index":0,"delta":{"content":"Net gain of one."},"finish_reason":null}]}\n'
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"qw'
    b'en3","choices":[{"index":0,"delta":{"content":"</think>"},"finish_reason":null}]}\n'
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"qw'
    b'en3","choices":[{"index":0,"delta":{"content":"Eight days."},"finish_reason":null}]}\n'
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"qw'
    b'en3","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n'
    b"\n"
    b"data: [DONE]\n"
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
    for event in Agent(model=OpenAILike(id="qwen3", api_key="key", base_url=url, max_retries=0)).run(
        "Hi", stream=True, yield_run_output=True
    ):
        answer = event
    return f"content {answer.content!r}, reasoning_content {answer.reasoning_content!r}", "<think>" in answer.content


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "<think>Net gain of one.</think>Eight days.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
