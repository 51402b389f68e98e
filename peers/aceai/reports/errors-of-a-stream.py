"""Streams hide what kind of error there was.

`LLMService.complete` raises, with type and status. After an error of OpenAI (but for a prompt that is too long), a lost connection of Claude's or a time-out of any provider, `LLMService.stream` returns a response with the status `failed` instead. Its text is the message of an error that is not retried, and "LLM request failed after retries. Please try again later." of all others: a rate limit, a time-out, a lost connection. The README promises to "surface errors instead of hiding them".

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.openai import OpenAI
from openai import AsyncOpenAI

MODEL = "gpt-5.4-2026-03-05"
SENT = b"""\
{"error":{"message":"Rate limit reached for gpt-5.4","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(429)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = OpenAI(AsyncOpenAI(api_key="key", base_url=url, max_retries=0), default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    last = [event async for event in service.stream(messages=messages)][-1]
    seen = f"{last.event_type}, status {last.response.status!r}, text {last.response.text!r}"
    return seen, "failed after retries" in last.response.text


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "HTTP 429, rate_limit_exceeded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
