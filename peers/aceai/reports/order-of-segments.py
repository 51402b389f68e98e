"""Segments put the text before the reasoning that comes first.

`LLMResponse.segments` begins with all text, joined into one segment; reasoning, web searches and images follow, wherever the provider sent them. So a caller cannot tell what was thought or searched before which text. Claude's plain answers have their segments in order.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.openai import OpenAI
from openai import AsyncOpenAI

MODEL = "gpt-5.4-2026-03-05"
SENT = b"""\
{
  "id": "resp_0a4c235c208b3b09016a3bf730e2f781db3a0225b7ae86745d",
  "object": "response",
  "created_at": 1782314800,
  "status": "completed",
  "background": false,
  "billing": {
    "payer": "developer"
  },
  "completed_at": 1782314802,
  "error": null,
  "frequency_penalty": 0.0,
  "incomplete_details": null,
  "instructions": null,
  "max_output_tokens": null,
  "max_tool_calls": null,
  "model": "gpt-5.5-2026-04-23",
  "moderation": null,
  "output": [
    {
      "id": "rs_0a4c235c208b3b09016a3bf730cff981db927a9a67a3974c84",
      "type": "reasoning",
      "content": [],
      "summary": [
        {
          "type": "summary_text",
          "text": "**Weighing the options**\\n\\nThe walker wants shade and water; the northern path has both until noon."
        },
        {
          "type": "summary_text",
          "text": "**Checking the time**\\n\\nAt two in the afternoon the sun stands behind the ridge, which changes the picture."
        }
      ]
    },
    {
      "id": "msg_0a4c235c208b3b09016a3bf7318e5981db3098a66b18d208f5",
      "type": "message",
      "status": "completed",
      "content": [
        {
          "type": "output_text",
          "annotations": [],
          "logprobs": [],
          "text": "Go round by the lake."
        }
      ],
      "phase": "final_answer",
      "role": "assistant"
    }
  ],
  "parallel_tool_calls": true,
  "presence_penalty": 0.0,
  "previous_response_id": null,
  "prompt_cache_key": null,
  "prompt_cache_retention": "24h",
  "reasoning": {
    "context": "current_turn",
    "effort": "low",
    "summary": "detailed"
  },
  "safety_identifier": null,
  "service_tier": "default",
  "store": true,
  "temperature": 1.0,
  "text": {
    "format": {
      "type": "text"
    },
    "verbosity": "medium"
  },
  "tool_choice": "auto",
  "tools": [],
  "top_logprobs": 0,
  "top_p": 0.98,
  "truncation": "disabled",
  "usage": {
    "input_tokens": 31,
    "input_tokens_details": {
      "cached_tokens": 0
    },
    "output_tokens": 212,
    "output_tokens_details": {
      "reasoning_tokens": 192
    },
    "total_tokens": 243
  },
  "user": null,
  "metadata": {}
}"""


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


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = OpenAI(AsyncOpenAI(api_key="key", base_url=url, max_retries=0), default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    response = await service.complete(messages=messages)
    kinds = [segment.type for segment in response.segments]
    return repr(kinds), kinds[0] == "text"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a reasoning item with two parts, then a message")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
