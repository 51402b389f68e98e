"""An error status in a stream of Claude raises httpx.ResponseNotRead.

The provider reads `err.response.text` of a streamed response that nobody has read. So an error status such as 401
raises httpx's ResponseNotRead, which is no AceAIError, and has no message of Anthropic's.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.anthropic import Anthropic

MODEL = "claude-sonnet-4-6"
SENT = b"""\
{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_011CdiKEDEIc18OytODIscqh"}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = Anthropic(api_key="key", api_url=url + "/v1/messages", default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    try:
        last = [event async for event in service.stream(messages=messages)][-1]
    except Exception as error:
        seen = f"{type(error).__module__}.{type(error).__name__}: {error}"
        return seen, type(error).__name__ == "ResponseNotRead"
    return f"status {last.response.status!r}, text {last.response.text!r}", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "HTTP 401, authentication_error: invalid x-api-key")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
