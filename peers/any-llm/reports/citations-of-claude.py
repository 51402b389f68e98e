"""By `completion()`, Claude's citations are not in the message.

Claude sends each cited sentence as a text block with `citations`. `completion()` joins the texts and drops the citations: they are neither in `annotations` nor in `extra_content`. `messages()` returns the blocks with all of their citations; chat completions have a form for citations of URLs alone.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import completion

SENT = b"""\
{
  "id": "msg_016NSoAFZagmYi29wfZ72wN2",
  "type": "message",
  "role": "assistant",
  "model": "claude-3-7-sonnet-20250219",
  "content": [
    {
      "type": "text",
      "text": "Based on the document you've provided:\\n\\n"
    },
    {
      "type": "text",
      "text": "The grass is green.",
      "citations": [
        {
          "type": "char_location",
          "cited_text": "The grass is green. ",
          "document_index": 0,
          "document_title": "My Document",
          "start_char_index": 0,
          "end_char_index": 20
        }
      ]
    },
    {
      "type": "text",
      "text": " "
    },
    {
      "type": "text",
      "text": "The sky is blue.",
      "citations": [
        {
          "type": "char_location",
          "cited_text": "The sky is blue.",
          "document_index": 0,
          "document_title": "My Document",
          "start_char_index": 20,
          "end_char_index": 36
        }
      ]
    }
  ],
  "stop_reason": "end_turn",
  "stop_sequence": null,
  "usage": {
    "input_tokens": 610,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 54
  }
}"""


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
    answer = completion(
        provider="anthropic",
        model="claude-haiku-4-5",
        messages=[{"role": "user", "content": "Hi"}],
        api_key="key",
        api_base=url,
        max_tokens=64,
        client_args={"max_retries": 0},
    )

    message = answer.choices[0].message
    dump = message.model_dump_json()
    return f"annotations {message.annotations}, extra_content {message.extra_content}", "cited_text" not in dump


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "text blocks, some of them with citations")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
