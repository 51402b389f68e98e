"""A plain answer of OpenAI's that begins with a bare think tag is split.

https://github.com/BerriAI/litellm/issues/10702: the text up to the closing tag is moved to `reasoning_content`, also for models that do not reason.

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
  "id": "chatcmpl-CTpmuh9XSNUdoWwJj7RBiiA0w9U6A",
  "object": "chat.completion",
  "created": 1761226620,
  "model": "gpt-4.1-2025-04-14",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "<think> opens the trace and </think> closes it. Raw output looks like this:\\n\\n```text\\n<think>\\n17 \xc3\x97 3 = 51\\n</think>\\nIt is 51.\\n```\\n\\nA parser should look for `<think>` at the very start only.\\n",
        "refusal": null,
        "annotations": []
      },
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "prompt_tokens": 19,
    "completion_tokens": 58,
    "total_tokens": 77,
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
  "system_fingerprint": "fp_5c51a66b0a"
}
"""


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
        model="openai/gpt-4.1", messages=[{"role": "user", "content": "Hi"}], api_base=url, api_key="key"
    )

    message = whole.choices[0].message
    reasoning = getattr(message, "reasoning_content", None)
    return f"reasoning_content {reasoning!r}, content {message.content[:40]!r}…", bool(reasoning)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "an answer about think tags, and no reasoning")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
