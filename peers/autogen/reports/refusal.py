"""A refusal of OpenAI is an empty answer that ends with `stop`.

The model refuses a structured output: `message.refusal` has the text and `message.content` is null. The result has an empty `content`, no
`thought`, and the finish reason `stop`.

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
from pydantic import BaseModel

SENT = b"""\
{
  "id": "chatcmpl-CEEj0M284d0C9UVv5DbFJRMAp6Ocn",
  "object": "chat.completion",
  "created": 1757509230,
  "model": "gpt-4o-2024-08-06",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": null,
        "refusal": "I\xe2\x80\x99m sorry, but I can\xe2\x80\x99t help with picking that lock. A locksmith can.",
        "annotations": []
      },
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "prompt_tokens": 71,
    "completion_tokens": 18,
    "total_tokens": 89,
    "prompt_tokens_details": {
      "cached_tokens": 0,
      "audio_tokens": 0
    },
    "completion_tokens_details": {
      "reasoning_tokens": 0,
      "audio_tokens": 0,
      "accepted_prediction_tokens": 0,
      "rejected_prediction_tokens": 0
    }
  },
  "service_tier": "default",
  "system_fingerprint": "fp_4b2c91e07d"
}
"""


class Steps(BaseModel):
    """What is asked for."""

    steps: list[str]


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
        model="gpt-4o",
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
    result: CreateResult = await client.create(
        [UserMessage(content="How do I pick this lock?", source="user")], json_output=Steps
    )
    return (
        f"content {result.content!r}, thought {result.thought!r}, finish reason {result.finish_reason!r}",
        not result.content,
    )


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a refusal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
