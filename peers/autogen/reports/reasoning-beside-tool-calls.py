"""The reasoning of an answer with tool calls is lost.

DeepSeek sends `reasoning_content` beside `tool_calls`. `OpenAIChatCompletionClient` puts it into `thought` only if there are no tool
calls, so that the result lacks it. DeepSeek asks for it with the results of the tools
(https://api-docs.deepseek.com/guides/thinking_mode#tool-calls).

Install autogen-ext[openai] 0.7.5, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else
failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from autogen_core.models import CreateResult, ModelFamily, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

SENT = b"""\
{"id":"1acc56a8-97fa-46f6-a7ad-cba5a541ddec","object":"chat.completion","created":1782198044,"model":"deepseek-v4-flash","choices":[{"index":0,"message":{"role":"assistant","content":"","reasoning_content":"Zwei Pegel sind gemeint: Kaub und K\xc3\xb6ln. Ich frage erst Kaub ab, denn dort ist der Rhein am flachsten.","tool_calls":[{"index":0,"id":"call_00_03k3qBipC1mRVYf7pNYshhxM","type":"function","function":{"name":"water_level","arguments":"{\\"station\\": \\"Kaub\\", \\"einheit\\": \\"cm\\"}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":318,"completion_tokens":71,"total_tokens":389,"prompt_tokens_details":{"cached_tokens":256},"completion_tokens_details":{"reasoning_tokens":30},"prompt_cache_hit_tokens":256,"prompt_cache_miss_tokens":62},"system_fingerprint":"fp_5d20b7e91c_prod0820_fp8_kvcache_20260402"}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(SENT)))
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = OpenAIChatCompletionClient(
        model="deepseek-reasoner",
        base_url=url,
        api_key="key",
        max_retries=0,
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": True,
            "structured_output": True,
            "family": ModelFamily.UNKNOWN,
        },
    )
    result: CreateResult = await client.create([UserMessage(content="Hi", source="user")])
    return f"thought {result.thought!r}, content {result.content}", "Pegel" not in (result.thought or "")


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "reasoning_content and a tool call")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
