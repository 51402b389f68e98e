"""A refusal of OpenAI is not in the turn.

If structured outputs were asked for, the answer may have `refusal` in place of `content`. `chat_structured()` then raises `ValueError: Data extraction failed: 0 data results received.` The turn has no contents, its text is empty, and its finish reason is `success`.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatOpenAICompletions
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
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    chat = ChatOpenAICompletions(model="gpt-4o-2024-08-06", api_key="key", base_url=url, kwargs={"max_retries": 0})
    try:
        chat.chat_structured("How do I pick this lock?", data_model=Steps)
        error = ""
    except ValueError as raised:
        error = str(raised)
    turn = chat.get_last_turn()
    said = f"text {turn.text!r}, finish reason {turn.finish_reason!r}, error {error!r}"
    return said, "help" not in turn.text + error


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "message.refusal with a text, finish_reason stop")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
