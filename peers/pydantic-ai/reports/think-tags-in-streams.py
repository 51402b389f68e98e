"""A think tag that does not come as a piece of its own is not split off in a stream.

A server without a reasoning parser sends the reasoning between think tags, here with other text in the pieces of the tags. The text of the response has the tags and the reasoning.

Install pydantic-ai-slim[anthropic,openai] 2.68.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_stream_sync
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

SENT = b"""\
data: {"id":"chatcmpl-11bd841e824de815","object":"chat.completion.chunk","created":1784448019,"model":"Qwen/Qwen3-14B","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}

data: {"id":"chatcmpl-11bd841e824de815","object":"chat.completion.chunk","created":1784448019,"model":"Qwen/Qwen3-14B","choices":[{"index":0,"delta":{"content":"<think>\\nNet gain"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-11bd841e824de815","object":"chat.completion.chunk","created":1784448019,"model":"Qwen/Qwen3-14B","choices":[{"index":0,"delta":{"content":" of one per cycle.\\n</think>\\n\\n"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-11bd841e824de815","object":"chat.completion.chunk","created":1784448019,"model":"Qwen/Qwen3-14B","choices":[{"index":0,"delta":{"content":"Eight days."},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-11bd841e824de815","object":"chat.completion.chunk","created":1784448019,"model":"Qwen/Qwen3-14B","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-11bd841e824de815","object":"chat.completion.chunk","created":1784448019,"model":"Qwen/Qwen3-14B","choices":[],"usage":{"prompt_tokens":34,"total_tokens":105,"completion_tokens":71},"system_fingerprint":"vllm-0.24.0-6d31f84d"}

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


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    model = OpenAIChatModel(
        "Qwen/Qwen3-14B", provider=OpenAIProvider(openai_client=AsyncOpenAI(base_url=url, api_key="key", max_retries=0))
    )
    with model_request_stream_sync(model, [ModelRequest.user_text_prompt("Hi")]) as stream:
        for _ in stream:
            pass
        response = stream.response
    kinds = [part.part_kind for part in response.parts]
    return f"parts {kinds}, text {(response.text or '')[:30]!r}", "<think>" in (response.text or "")


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "<think> and </think> in pieces with the text beside them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
