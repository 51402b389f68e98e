"""Pydantic AI: the cached tokens that Cerebras counts are 0.

Cerebras counts them in `usage.prompt_tokens_details.cached_tokens`, as OpenAI does. The extractor that genai-prices has
for Cerebras does not read them, so that `cache_read_tokens` is 0, and `details` does not have them either.

Needs pydantic-ai-slim[openai] and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2
if something else went wrong.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import AsyncOpenAI
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.cerebras import CerebrasModel
from pydantic_ai.providers.cerebras import CerebrasProvider

BODY = b"""{"id":"chatcmpl-1","object":"chat.completion","created":1784810467,"model":"gpt-oss-120b","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":600,"completion_tokens":2,"total_tokens":602,"prompt_tokens_details":{"cached_tokens":512}},"system_fingerprint":"fp_1","time_info":{"total_time":0.5}}"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


async def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    model = CerebrasModel("gpt-oss-120b", provider=CerebrasProvider(openai_client=client))
    usage = (await model_request(model, [ModelRequest.user_text_prompt("Hi")])).usage
    return f"cache_read_tokens {usage.cache_read_tokens}, details {usage.details}", usage.cache_read_tokens != 512


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = asyncio.run(seen(f"http://127.0.0.1:{server.server_port}"))
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: 600 tokens, of which 512 are cached; {said}")
sys.exit(1 if is_wrong else 0)
