"""The thought signature of a text of Gemini's does not go back.

Gemini's parts may have a `thoughtSignature`, and its documentation recommends to send it back in the same part, even if it is a text (https://ai.google.dev/gemini-api/docs/thought-signatures). The text goes back without it. In a stream, the signature may come in a last part with an empty text, of which chatlas makes no content.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatGoogle

SIGNATURE = "EpABc7ef45afd6494bc8bb44b5274ce2e46d91eba5ad8b7136a693829bea4bbd5a59"
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

STREAMED = b"""\
data: {"candidates": [{"content": {"parts": [{"text": "Um 18:40, Gleis 3."}], "role": "model"}, "index": 0}], "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 11, "totalTokenCount": 18}, "modelVersion": "gemini-3.1-pro-preview", "responseId": "AOEz4tCRU16xAaMogepMgw"}

data: {"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "EpABc7ef45afd6494bc8bb44b5274ce2e46d91eba5ad8b7136a693829bea4bbd5a59"}], "role": "model"}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 11, "totalTokenCount": 106, "thoughtsTokenCount": 88}, "modelVersion": "gemini-3.1-pro-preview", "responseId": "AOEz4tCRU16xAaMogepMgw"}

"""

ASKED = []


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        is_stream = "streamGenerateContent" in self.path
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(STREAMED if is_stream else SENT)

    def log_message(self, *args):
        """Say nothing."""


def sent_back(url, stream):
    """Return the parts of the answer that the second request has."""
    ASKED.clear()
    chat = ChatGoogle(model="gemini-3.1-pro-preview", api_key="key", kwargs={"http_options": {"base_url": url}})
    chat.chat("Hi", echo="none", stream=stream)
    chat.chat("Danke", echo="none", stream=stream)
    return ASKED[1]["contents"][1]["parts"]


def has_signature(parts):
    """Return whether one of the parts has the signature."""
    return any(part.get("thoughtSignature", part.get("thought_signature")) == SIGNATURE for part in parts)


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    plain, streamed = sent_back(url, stream=False), sent_back(url, stream=True)
    seen = f"goes back: {plain}, of a stream: {streamed}"
    return seen, not (has_signature(plain) and has_signature(streamed))


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print(
        "seen:",
        seen,
        "| sent:",
        "a text part with thoughtSignature; in a stream, it is in a last part with an empty text",
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
