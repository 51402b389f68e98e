"""The thought signature of a text of Gemini's is dropped.

Gemini's parts may have a `thoughtSignature`, and its documentation asks for it back in the part that had it. chatlas keeps that of calls and drops that of texts.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatGoogle

SENT = b"""\
{
  "candidates": [
    {
      "content": {
        "parts": [
          {
            "text": "Um 18:40, Gleis 3.",
            "thoughtSignature": "EpABc7ef45afd6494bc8bb44b5274ce2e46d91eba5ad8b7136a693829bea4bbd5a59"
          }
        ],
        "role": "model"
      },
      "finishReason": "STOP",
      "index": 0
    }
  ],
  "usageMetadata": {
    "promptTokenCount": 7,
    "candidatesTokenCount": 11,
    "totalTokenCount": 106,
    "promptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 7
      }
    ],
    "thoughtsTokenCount": 88,
    "serviceTier": "standard"
  },
  "modelVersion": "gemini-3.1-pro-preview",
  "responseId": "AOEz4tCRU16xAaMogepMgw"
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
    chat = ChatGoogle(model="gemini-3-pro-preview", api_key="key", kwargs={"http_options": {"base_url": url}})
    chat.chat("Hi", echo="none", stream=False)
    turn = chat.get_last_turn()
    kept = [getattr(each, "extra", None) for each in turn.contents]
    return f"contents {[each.content_type for each in turn.contents]} with {kept}", not any(kept)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a text part with thoughtSignature")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
