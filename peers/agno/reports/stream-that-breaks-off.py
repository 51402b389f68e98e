"""Half a stream is a completed run.

The last event of a stream of Claude is `message_stop`. If the body of a stream ends properly, but before this
event, the run is completed, with the text so far. No error is raised.

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
    b"event: message_start\n"
    b'data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant"'
    b',"model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"stop_sequence":null'
    b',"usage":{"input_tokens":12,"output_tokens":30}}}\n'
    b"\n"
    b"event: content_block_start\n"
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n'
    b"\n"
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Never p'
    b'ress the red"}}\n'
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
    for event in Agent(
        model=Claude(id="claude-sonnet-4-5", api_key="key", client_params={"base_url": url, "max_retries": 0})
    ).run("Hi", stream=True, yield_run_output=True):
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
    print("seen:", seen, "| sent:", "'Never press the red', and neither content_block_stop nor message_stop")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
