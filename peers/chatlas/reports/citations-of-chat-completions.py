"""The citations of chat completions become no ContentCitation.

OpenAI's search models send `annotations` beside the content. `ChatOpenAI` makes a ContentCitation of a `url_citation` in a response; `ChatOpenAICompletions` makes none. `ChatGroq` has the same provider class, and makes none of Groq's `document_citation`s. The raw answer, `turn.completion`, has them.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatOpenAICompletions

SENT = b"""\
{
  "id": "chatcmpl-af26c233-6a74-4939-a545-bba756f9520e",
  "object": "chat.completion",
  "created": 1762247560,
  "model": "gpt-4o-search-preview-2025-03-11",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "The \xc3\x98resund bridge is 7,845 metres long \xe2\x80\x93 nearly half of the crossing. ([oresundsbron.example](https://www.oresundsbron.example/om-bron?utm_source=openai)) The rest runs over the island of Peberholm and through a tunnel.",
        "refusal": null,
        "annotations": [
          {
            "type": "url_citation",
            "url_citation": {
              "end_index": 155,
              "start_index": 71,
              "title": "Om bron \xe2\x80\x93 \xc3\x98resundsbron",
              "url": "https://www.oresundsbron.example/om-bron?utm_source=openai"
            }
          }
        ]
      },
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "prompt_tokens": 13,
    "completion_tokens": 61,
    "total_tokens": 74,
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
  "system_fingerprint": ""
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
    chat = ChatOpenAICompletions(model="gpt-4o-search-preview", api_key="key", base_url=url, kwargs={"max_retries": 0})
    chat.chat("Hi", echo="none", stream=False)
    turn = chat.get_last_turn()
    kinds = [each.content_type for each in turn.contents]
    return f"contents {kinds}", "citation" not in kinds


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "annotations of the type url_citation")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
