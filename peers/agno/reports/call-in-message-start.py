"""A call that comes whole in message_start is lost.

When code that Claude runs calls a tool of the client more than once, the next call comes whole in the `message_start`
of the stream (programmatic tool calling). `Claude` reads calls of `content_block_stop` events only. The final
message, which it reads for citations, has the call.

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.models.anthropic import Claude

SENT = (
    b"event: message_start\n"
    b'data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant"'
    b',"model":"claude-sonnet-4-5-20250929","content":[{"type":"tool_use","id":"toolu_1","name":'
    b'"level","input":{"place":"Passau"}}],"stop_reason":"tool_use","stop_sequence":null,"usage"'
    b':{"input_tokens":12,"output_tokens":30}}}\n'
    b"\n"
    b"event: message_delta\n"
    b'data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usa'
    b'ge":{"output_tokens":0}}\n'
    b"\n"
    b"event: message_stop\n"
    b'data: {"type":"message_stop"}\n'
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
    from agno.models.message import Message
    from agno.models.response import ModelResponseEvent

    messages = [Message(role="user", content="Hi")]
    for event in Claude(
        id="claude-sonnet-4-5", api_key="key", client_params={"base_url": url, "max_retries": 0}
    ).response_stream(messages):
        if event.event == ModelResponseEvent.model_request_completed.value:
            break
    return f"tool_calls {messages[-1].tool_calls}", not messages[-1].tool_calls


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "the call level({'place': 'Passau'})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
