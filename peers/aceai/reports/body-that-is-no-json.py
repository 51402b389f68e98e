"""A body that is no JSON raises JSONDecodeError or AttributeError.

A page of HTML with the status 200 raises JSONDecodeError in the place of an answer of Claude's, and AttributeError
in the place of one of DeepSeek's (`'str' object has no attribute 'choices'`). An event of a stream that is no JSON
raises JSONDecodeError, too. `except AceAIError` misses them.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.anthropic import Anthropic
from aceai.llm.errors import AceAIError

MODEL = "claude-sonnet-4-6"
SENT = b"""\
<html><body><h1>502 Bad Gateway</h1></body></html>
"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/html")
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
        response = await service.complete(messages=messages)
    except AceAIError as error:
        return repr(error), False
    except Exception as error:
        return f"{type(error).__name__}: {error}", True
    return repr(response), False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a page of HTML with the status 200")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
