"""Think tags that an answer writes about are cut out of it.

The answer explains think tags, in backticks. The model has sent its reasoning in `reasoning_content`, or has none. Pydantic AI still searches the content for tags, at any place in it, and makes ThinkingParts of what is between them, so that the text of the answer has holes. In a stream the same answer is whole, unless a piece is the tag alone.

Install pydantic-ai-slim[anthropic,openai] 2.68.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_sync
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.deepseek import DeepSeekProvider

SENT = b"""\
{"id":"ae5178c3-09d6-4fb2-b84e-d2c73f9061b5","object":"chat.completion","created":1781935604,"model":"deepseek-v4-pro","choices":[{"index":0,"message":{"role":"assistant","content":"Older open models print their trace into the text: it starts with `<think>` and ends with `</think>`. Everything behind the closing tag, e.g.\\n\\n<think>2 + 2</think>\\n\\nwould then be the reply.","reasoning_content":"They ask how a parser finds where a trace ends: it looks for </think> in raw output. I could show a <think>\xe2\x80\xa6</think> pair, escaped or not? Plain backticks will do."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":17,"completion_tokens":98,"total_tokens":115,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":47},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":17},"system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402"}"""


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


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = AsyncOpenAI(base_url=url, api_key="key", max_retries=0)
    model = OpenAIChatModel("deepseek-v4-pro", provider=DeepSeekProvider(openai_client=client))
    response = model_request_sync(model, [ModelRequest.user_text_prompt("Hi")])
    kinds = [part.part_kind for part in response.parts]
    return f"parts {kinds}, text {response.text[:90]!r}…", kinds != ["thinking", "text"]


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "content that explains <think> and </think>, and reasoning_content")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
