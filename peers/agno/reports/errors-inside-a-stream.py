"""A rate limit that is reported inside a stream is no ModelRateLimitError.

Claude may report an error after the stream has begun. Its type says that it is a rate limit. Of these types Agno reads
`overloaded_error` only, and raises a ModelProviderError with the status 200, that of the response. With `OpenAIChat`, a
rate limit inside a stream is a ModelProviderError with the status 502, the default.

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
    b',"model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"stop_sequence":null'
    b',"usage":{"input_tokens":12,"output_tokens":30}}}\n'
    b"\n"
    b"event: error\n"
    b'data: {"type":"error","error":{"type":"rate_limit_error","message":"Too many output tokens'
    b'."}}\n'
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
    from agno.exceptions import ModelProviderError, ModelRateLimitError
    from agno.models.message import Message

    model = Claude(id="claude-sonnet-4-5", api_key="key", client_params={"base_url": url, "max_retries": 0})
    try:
        list(model.response_stream([Message(role="user", content="Hi")]))
    except ModelProviderError as error:
        return f"{type(error).__name__} with the status {error.status_code}", not isinstance(error, ModelRateLimitError)
    return "no error", True


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "the error rate_limit_error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
