"""The finish reason of a stream is `unknown` if it comes in the chunk that has the usage.

DeepSeek sends `finish_reason` and `usage` in the same, last chunk. `create_stream` reads the finish reason only of chunks without
usage, so that the finish reason of the result is `unknown`.

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
data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Okay"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":", a sea"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"bird beside"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" a tusked wai"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"ter\xe2\x80\xa6"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" The joke"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" needs fli"},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"ppers."},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":"The walrus","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":" waves","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":" its menu","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":" at the peli","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":"can: \xe2\x80\x9cTwo teas, no ","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":"fi","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":"sh!\xe2\x80\x9d","reasoning_content":null},"logprobs":null,"finish_reason":null}]}

data: {"id":"2cf23b27-2ba6-41dd-b484-358c486a1405","object":"chat.completion.chunk","created":1737480272,"model":"deepseek-reasoner","system_fingerprint":"fp_1c5d8833bc","choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":41,"total_tokens":60,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":20},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":19}}

data: [DONE]

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
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
    asked = client.create_stream([UserMessage(content="Hi", source="user")], include_usage=True)
    results = [item async for item in asked if isinstance(item, CreateResult)]
    result = results[-1]
    return f"finish reason {result.finish_reason!r}", result.finish_reason != "stop"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "finish_reason stop, in the chunk with the usage")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
