"""The tokens that Gemini's own tools put into the prompt are not counted.

Gemini counts what its tools found as `toolUsePromptTokenCount`, beside `promptTokenCount`; for code execution and URL context it is billed as input. The tokens of the turn leave it out.

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
            "text": "Ich rechne. "
          },
          {
            "executableCode": {
              "language": "PYTHON",
              "code": "print(sum(range(8)))"
            }
          },
          {
            "codeExecutionResult": {
              "outcome": "OUTCOME_OK",
              "output": "28\\n"
            }
          },
          {
            "text": "Die Summe ist 28."
          }
        ],
        "role": "model"
      },
      "finishReason": "STOP",
      "index": 0
    }
  ],
  "usageMetadata": {
    "promptTokenCount": 9,
    "candidatesTokenCount": 31,
    "totalTokenCount": 160,
    "promptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 9
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
  "modelVersion": "gemini-2.5-flash-lite",
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
    chat.chat("Hi", echo="none", stream=False)
    turn = chat.get_last_turn()
    return f"tokens (input, output, cached) {turn.tokens}", turn.tokens[0] + turn.tokens[2] < 129


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "promptTokenCount and toolUsePromptTokenCount, 129 together")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
