"""The tokens that Gemini's own tools put into the prompt are not counted.

Gemini counts what its tools add to the prompt as `toolUsePromptTokenCount`, beside `promptTokenCount`. Both are in `totalTokenCount`. The tokens of the turn leave out the former.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatGoogle, tool_web_fetch

SENT = b"""\
{
  "candidates": [
    {
      "content": {
        "parts": [
          {
            "text": "It rains."
          }
        ],
        "role": "model"
      },
      "finishReason": "STOP",
      "index": 0,
      "urlContextMetadata": {
        "urlMetadata": [
          {
            "retrievedUrl": "https://weather.example/today",
            "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"
          }
        ]
      }
    }
  ],
  "usageMetadata": {
    "promptTokenCount": 19,
    "candidatesTokenCount": 4,
    "totalTokenCount": 143,
    "promptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 19
      }
    ],
    "toolUsePromptTokenCount": 120,
    "toolUsePromptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 120
      }
    ],
    "serviceTier": "standard"
  },
  "modelVersion": "gemini-2.5-flash",
  "responseId": "kJgxR1XT-umHKJt_-PJbsr"
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
    chat = ChatGoogle(model="gemini-2.5-flash", api_key="key", kwargs={"http_options": {"base_url": url}})
    chat.register_tool(tool_web_fetch())
    chat.chat("What is the weather according to https://weather.example/today?", echo="none", stream=False)
    turn = chat.get_last_turn()
    return f"tokens (input, output, cached) {turn.tokens}", turn.tokens[0] + turn.tokens[2] < 139


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "promptTokenCount and toolUsePromptTokenCount, 139 together")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
