"""Reasoning tokens of DeepSeek and Claude are dropped.

`LLMResponse.reasoning.tokens` ("Provider-reported reasoning token count") is not set. DeepSeek sends
`completion_tokens_details.reasoning_tokens`, Anthropic `output_tokens_details.thinking_tokens`.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.deepseek import DeepSeek

MODEL = "deepseek-v4-pro"
SENT = b"""\
{"id":"7b0f5a1e-93c4-4f0e-8d55-21c6a90e3d17","object":"chat.completion","created":1781160442,"model":"deepseek-v4-pro","choices":[{"index":0,"message":{"role":"assistant","content":"**About every two weeks.** When the three bodies align (syzygy \xf0\x9f\x8c\x91\xf0\x9f\x8c\x95), the solar bulge adds to the lunar one, and the sea rises highest \xe2\x80\x94 roughly 26 times a year.","reasoning_content":"Spring tides need Sun, Moon and Earth in one line; that is the case at new and at full moon. So twice per lunation.\\n\\nLunation \xe2\x89\x88 29.53 d, half of it is about 14.8."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":24,"completion_tokens":96,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":53},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":24},"system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402"}"""


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
    provider = DeepSeek(api_key="key", base_url=url, default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    response = await service.complete(messages=messages)
    return f"reasoning {response.reasoning}, usage {response.usage}", response.reasoning is None


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "completion_tokens_details.reasoning_tokens 53")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
