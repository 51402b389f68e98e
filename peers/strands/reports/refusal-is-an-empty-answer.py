"""A refusal of OpenAI is an empty answer that ends with `end_turn`.

The text of a refusal comes in `refusal`, not in `content`. `OpenAIModel` does not read it, so that the message is empty and its stop reason is that of a finished turn. `OpenAIResponsesModel` does not read `response.refusal.delta` either.

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
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[{"index":0,"delta":{"refusal":"I cannot help with that."},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":8,"total_tokens":26}}

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
        params={
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "steps",
                    "strict": True,
                    "schema": {
                        "type": "object",
                        "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
                        "required": ["steps"],
                        "additionalProperties": False,
                    },
                },
            }
        },
    )
    result = await Agent(model=model, callback_handler=None).invoke_async("Hi")
    return result.stop_reason, result.message, result.metrics.accumulated_usage


def call(url):
    """Return what is seen, and whether that is the fault."""
    reason, message, usage = asyncio.run(turn(url))
    return f"{reason}, {message['content']}, {usage}", "cannot help" not in str(message) and reason == "end_turn"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a refusal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
