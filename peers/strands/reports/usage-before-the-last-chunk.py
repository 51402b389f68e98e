"""The token counts of a stream are 0 if the chunk that has them is not the last one.

After the finish reason, `OpenAIModel` reads the rest of the stream and takes `usage` of the last chunk only. If the request asks for a moderation (`moderation`), OpenAI sends a chunk with its result behind it, so that the counts are 0.

Install strands-agents[openai] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent
from strands.models.openai import OpenAIModel

SENT = b"""\
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":82,"total_tokens":100}}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[],"usage":null,"moderation":{"input":{"type":"moderation_results","model":"omni-moderation-latest","results":[{"type":"moderation_result","model":"omni-moderation-latest","flagged":false,"categories":{},"category_scores":{},"category_applied_input_types":{}}]},"output":{"type":"moderation_results","model":"omni-moderation-latest","results":[{"type":"moderation_result","model":"omni-moderation-latest","flagged":false,"categories":{},"category_scores":{},"category_applied_input_types":{}}]}}}

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


async def turn(url):
    """Ask an agent; return the stop reason, the message and the usage."""
    model = OpenAIModel(
        client_args={"base_url": url + "/v1", "api_key": "key", "max_retries": 0},
        model_id="gpt-5",
        params={"extra_body": {"moderation": {"model": "omni-moderation-latest"}}},
    )
    result = await Agent(model=model, callback_handler=None).invoke_async("Hi")
    return result.stop_reason, result.message, result.metrics.accumulated_usage


def call(url):
    """Return what is seen, and whether that is the fault."""
    reason, message, usage = asyncio.run(turn(url))
    return f"{reason}, {message['content']}, {usage}", usage["inputTokens"] == 0


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "18 prompt tokens and 82 completion tokens")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
