"""Reasoning that a server streams under two names is there twice.

Some servers, such as some releases of vLLM (see its pull request 33402), send each piece of reasoning in a stream under two names, `reasoning` and `reasoning_content`. The stream handler reads both: the reasoning item has the text once in `summary` and once in `content`, and events of both kinds are sent.

Install openai-agents 0.24.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agents import ModelSettings
from agents.models.interface import ModelTracing
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from openai import AsyncOpenAI

SENT = b"""\
data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"reasoning":"Ferries,","reasoning_content":"Ferries,"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"reasoning":" not bridges: the strait","reasoning_content":" not bridges: the strait"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"reasoning":" is forty kilometres wide there.","reasoning_content":" is forty kilometres wide there."},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"reasoning":"\\n","reasoning_content":"\\n"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":"\\n\\n"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":"By ferry,"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":" in about"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":" two hours."},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-c81d5f92e07a4e3ab6140f7d93b82c65","object":"chat.completion.chunk","created":1764580006,"model":"Qwen/Qwen3-8B","choices":[],"usage":{"prompt_tokens":19,"total_tokens":54,"completion_tokens":35}}

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

    async def ask():
        model = OpenAIChatCompletionsModel("Qwen/Qwen3-8B", AsyncOpenAI(base_url=url, api_key="key", max_retries=0))
        events = model.stream_response(
            system_instructions=None,
            input="Hi",
            model_settings=ModelSettings(),
            tools=[],
            output_schema=None,
            handoffs=[],
            tracing=ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        kinds = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
        return "".join([event.delta async for event in events if event.type in kinds])

    reasoning = asyncio.run(ask())
    return f"events of both kinds, joined: {reasoning[:60]!r}", "Ferries,Ferries" in reasoning


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "Ferries, not bridges: the strait is …, under both names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
