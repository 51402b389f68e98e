"""How a stream of DeepSeek ended is lost.

The response at the end of a stream has the status `completed` whatever the finish reason was, and even if none
came. Its id is None.

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
data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Spring tides need Sun, Moon and Earth in on"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"e li"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"ne; that "},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"is the case at ne"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"w and at full moon. So twice per lu"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"nation.\\n\\nLunat"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"i"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"on \xe2\x89\x88 29"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":".5"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"3 d, half of it is about 14.8."},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"**About","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":" every two wee","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"ks.** When","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":" the ","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"three bodies","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":" align (syzy","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"gy ","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"\xf0\x9f\x8c\x91\xf0\x9f\x8c\x95), the solar bulge adds ","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"to the lunar one, and the ","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"sea rises highest \xe2\x80\x94 roughly 26 times a yea","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"r.","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1e8d2f6-4a37-49b1-9e0c-6f2b7d80a5e3","object":"chat.completion.chunk","created":1781160467,"model":"deepseek-v4-pro","system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":24,"completion_tokens":96,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":53},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":24}}

data: [DONE]

"""


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


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = DeepSeek(api_key="key", base_url=url, default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    last = [event async for event in service.stream(messages=messages)][-1]
    response = last.response
    return f"status {response.status!r}, id {response.id!r}", response.status == "completed" or response.id is None


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", 'a stream with finish_reason "length" and an id')
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
