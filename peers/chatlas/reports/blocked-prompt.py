"""A prompt that Gemini blocks is an empty answer without a reason.

The answer has `promptFeedback.blockReason` and no candidate. The turn has the text "[empty string]", no finish reason, no token counts and no `completion`.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatGoogle

SENT = b"""\
{
  "promptFeedback": {
    "blockReason": "PROHIBITED_CONTENT"
  },
  "usageMetadata": {
    "promptTokenCount": 15,
    "totalTokenCount": 15,
    "promptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 15
      }
    ],
    "serviceTier": "standard"
  },
  "modelVersion": "gemini-2.5-flash-lite",
  "responseId": "DQbp3q2YPGAk2uPzu7aI0v"
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
    chat = ChatGoogle(model="gemini-2.5-flash-lite", api_key="key", kwargs={"http_options": {"base_url": url}})
    chat.chat("Hi", echo="none", stream=False)
    turn = chat.get_last_turn()
    said = (
        f"text {turn.text!r}, finish reason {turn.finish_reason!r}, tokens {turn.tokens}, completion {turn.completion}"
    )
    return said, turn.finish_reason is None and turn.completion is None


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "promptFeedback with blockReason PROHIBITED_CONTENT")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
