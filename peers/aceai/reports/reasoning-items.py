"""Reasoning items of OpenAI do not go back.

An LLMResponse has the summary of a reasoning item, but not its `encrypted_content`, and the next request has no
reasoning item. OpenAI asks for these items to be sent back with the results of tools
(https://platform.openai.com/docs/guides/reasoning).

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
  "id": "resp_09bd5a847ccf623f016a5a6508e4cc8178617580d6ce514f25",
  "object": "response",
  "created_at": 1784309000,
  "status": "completed",
  "background": false,
  "billing": {
    "payer": "developer"
  },
  "completed_at": 1784309002,
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
      "id": "rs_09bd5a847ccf623f016a5a6508015d8178623753738451d62b",
      "type": "reasoning",
      "content": [],
      "encrypted_content": "gAAAAABqWmUIcG_iJpln6oF5rAepqovSLEa4VHj8N8PrSOyAurHyHmdjXvACIsIruCxzk9bAkpP99WFJjo5FXjo-oKOBIP2pSoNTOPfOEuWdRjRmqXUKgzbIvb45iEtV12zgv39-E-fydLswhC_oAmEdyrLaMulr_pXKDmcvbLKWZK605YTnPZ_xFLWsDCwyOVfMt63qqmJOGMWbsxFFDQaApuzorzlfoPB5vALTrKVt8FMEssAsF8qMCZgZN5x8w66vsXySct5G",
      "summary": []
    },
    {
      "id": "fc_09bd5a847ccf623f016a5a6509e3b08178880f88e5c7634485",
      "type": "function_call",
      "status": "completed",
      "arguments": "{\\"port\\":\\"Brest\\"}",
      "call_id": "call_IfrpchQAclNlkyLODmQI3KJ7",
      "name": "tide"
    },
    {
      "id": "fc_09bd5a847ccf623f016a5a650a05218178228149560456ccb8",
      "type": "function_call",
      "status": "completed",
      "arguments": "{}",
      "call_id": "call_OqjEfj7ZTX6TbyrYvOgfS2n0",
      "name": "now"
    },
    {
      "id": "fc_09bd5a847ccf623f016a5a650b620581787ff4a731c11ad973",
      "type": "function_call",
      "status": "completed",
      "arguments": "{\\"port\\":\\"Saint-Malo\\"}",
      "call_id": "call_8dZVzSZf4vTA4fizijP5jCyC",
      "name": "tide"
    }
  ],
  "parallel_tool_calls": true,
  "presence_penalty": 0.0,
  "previous_response_id": null,
  "prompt_cache_key": null,
  "prompt_cache_retention": "24h",
  "reasoning": {
    "context": "current_turn",
    "effort": "medium",
    "mode": "standard",
    "summary": null
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
  "tool_usage": {
    "image_gen": {
      "input_tokens": 0,
      "input_tokens_details": {
        "image_tokens": 0,
        "text_tokens": 0
      },
      "output_tokens": 0,
      "output_tokens_details": {
        "image_tokens": 0,
        "text_tokens": 0
      },
      "total_tokens": 0
    },
    "web_search": {
      "num_requests": 0
    }
  },
  "tools": [
    {
      "type": "function",
      "description": "Next high tide",
      "name": "tide",
      "output_schema": null,
      "parameters": {
        "type": "object",
        "properties": {
          "port": {
            "type": "string"
          }
        },
        "required": [
          "port"
        ]
      },
      "strict": true
    },
    {
      "type": "function",
      "description": "Time aboard",
      "name": "now",
      "output_schema": null,
      "parameters": {
        "type": "object",
        "properties": {}
      },
      "strict": true
    }
  ],
  "top_logprobs": 0,
  "top_p": 0.98,
  "truncation": "disabled",
  "usage": {
    "input_tokens": 120,
    "input_tokens_details": {
      "cache_write_tokens": 0,
      "cached_tokens": 0
    },
    "output_tokens": 88,
    "output_tokens_details": {
      "reasoning_tokens": 40
    },
    "total_tokens": 208
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
    return f"segments {[segment.type for segment in response.segments]}", "gAAAAA" not in repr(response)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a reasoning item with encrypted_content, then three calls")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
