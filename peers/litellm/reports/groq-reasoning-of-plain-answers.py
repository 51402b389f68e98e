"""The reasoning of Groq's plain answers is not in reasoning_content.

Groq sends the reasoning as `message.reasoning`. LiteLLM's documentation has it as `message.reasoning_content` (https://docs.litellm.ai/docs/reasoning_content). In a plain answer it stays in `message.reasoning`, and `message.reasoning_content` is missing.

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

SENT = b"""\
{
  "id": "chatcmpl-74804ebf-2f94-46e9-ae29-3451fc493124",
  "object": "chat.completion",
  "created": 1771430112,
  "model": "openai/gpt-oss-120b",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "Lake Baikal, with about 1,640 metres. Its floor lies 1,180 m below the sea \xe2\x80\x93 a rift, not a bowl.",
        "reasoning": "The user asks which lake goes down furthest. Siberia has it; I recall a sounding in the sixteen hundreds. Add one detail on why."
      },
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "queue_time": 0.0423,
    "prompt_tokens": 81,
    "prompt_time": 0.0031,
    "completion_tokens": 72,
    "completion_time": 0.0874,
    "total_tokens": 153,
    "total_time": 0.0905,
    "prompt_tokens_details": {
      "cached_tokens": 64
    },
    "completion_tokens_details": {
      "reasoning_tokens": 31
    }
  },
  "usage_breakdown": null,
  "system_fingerprint": "fp_5c1d0e7b2a",
  "x_groq": {
    "id": "req_01khrq7rj2e8wbk41d6m3fszg0",
    "seed": 77102334
  },
  "service_tier": "on_demand"
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


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    whole = litellm.completion(
        model="groq/openai/gpt-oss-120b", messages=[{"role": "user", "content": "Hi"}], api_base=url, api_key="key"
    )

    reasoning = getattr(whole.choices[0].message, "reasoning_content", None)
    return f"reasoning_content {reasoning!r}", not reasoning


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "message.reasoning with a text")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
