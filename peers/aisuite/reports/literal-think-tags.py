"""An answer that begins with a bare `<think>` is cut.

The answer explains think tags, and begins with a bare `<think>`. aisuite takes the text up to the first `</think>` for reasoning, for any provider and also beside a reasoning field, and cuts it out of the content. Tags at any other place stay.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

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
    client = aisuite.Client({"openai": {"api_key": "key", "base_url": url, "max_retries": 0}})
    answer = client.chat.completions.create("openai:gpt-4.1", [{"role": "user", "content": "Hi"}])

    message = answer.choices[0].message
    reasoning = getattr(message, "reasoning_content", None)
    return f"reasoning_content {reasoning!r}", bool(reasoning)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "an answer that begins with a bare <think>, and no reasoning")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
