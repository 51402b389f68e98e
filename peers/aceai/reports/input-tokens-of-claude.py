"""Cached tokens are missing from the input tokens of Claude, and cache misses are negative.

Anthropic's `input_tokens` leaves out what was read from and written to the cache. AceAI takes it as the whole, adds
it up to `total_tokens`, and subtracts the cached tokens from it again.

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
{"model":"claude-sonnet-4-6","id":"msg_01zLYCkgx6h9mZu8eGQUAF5u","type":"message","role":"assistant","content":[{"type":"text","text":"The ship registers are in room B2, on the shelves left of the door."}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":14,"cache_creation_input_tokens":256,"cache_read_input_tokens":1792,"cache_creation":{"ephemeral_5m_input_tokens":256,"ephemeral_1h_input_tokens":0},"output_tokens":30,"service_tier":"standard","inference_geo":"global"}}"""


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


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = Anthropic(api_key="key", api_url=url + "/v1/messages", default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    system = LLMMessage.build(role="system", content="You know where each book stands.")
    messages = [system, LLMMessage.build(role="user", content="Hi")]
    usage = (await service.complete(messages=messages)).usage
    seen = f"input {usage.input_tokens}, cached {usage.cached_input_tokens}, misses {usage.cache_miss_input_tokens}"
    return seen, usage.cache_miss_input_tokens < 0 or usage.input_tokens < usage.cached_input_tokens


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "input_tokens 14, cache_read_input_tokens 1792, cache_creation_input_tokens 256")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
