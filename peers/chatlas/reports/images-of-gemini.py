"""An image in an answer of Gemini raises UnicodeDecodeError.

The `inlineData` of an answer is bytes. chatlas decodes them as UTF-8, which those of an image are not.

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
            "text": "Hier: ",
            "thoughtSignature": "EkAKPgOLkCkD/h4i9+wb8w1h15hMMEIA5Nl8Qk+38Mgs3E05odmzAqxuIlTuGi4MANr+7EKqviYy4glqTOomG6XB"
          },
          {
            "inlineData": {
              "mimeType": "image/png",
              "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
            },
            "thoughtSignature": "EkAKPkAlWva7Na+mykV6wPncK71pIQppwuJLP9UWzoHr2lPqOcsa3uMigenoV7M0vzyG98i9JfVxobK/M/U4SYn1"
          },
          {
            "text": "Ein Punkt."
          }
        ],
        "role": "model"
      },
      "finishReason": "STOP",
      "index": 0
    }
  ],
  "usageMetadata": {
    "promptTokenCount": 5,
    "candidatesTokenCount": 1295,
    "totalTokenCount": 1300,
    "promptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 5
      }
    ],
    "candidatesTokensDetails": [
      {
        "modality": "IMAGE",
        "tokenCount": 1120
      }
    ],
    "serviceTier": "standard"
  },
  "modelVersion": "gemini-3.1-flash-image",
  "responseId": "7yRchpb9CYCB6SbfUaSLUJ"
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
    chat = ChatGoogle(model="gemini-3-pro-image", api_key="key", kwargs={"http_options": {"base_url": url}})

    try:
        chat.chat("Hi", echo="none", stream=False)
    except UnicodeDecodeError as error:
        return repr(error)[:80], True
    return f"{[each.content_type for each in chat.get_last_turn().contents]}", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "text and a part with inlineData of the type image/png")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
