"""A plain answer of Groq's that cites a document raises APIConnectionError.

Groq's annotations can have the type `document_citation` (groq 1.7.0, `types.chat.chat_completion_message.Annotation`). LiteLLM's type for annotations is `url_citation`, so that the answer is refused. There is no recording of such an answer behind this; the bytes have the form of Groq's SDK.

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

SENT = b"""\
{
  "id": "chatcmpl-8f1c2d44-6a35-4b0e-9d27-53c1b0a7e642",
  "object": "chat.completion",
  "created": 1794300000,
  "model": "openai/gpt-oss-120b",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "The K\xc3\xa5rsa glacier has lost a third of its area since 1926 \xe2\x80\x93 and its tongue ends 400 m higher.",
        "reasoning": "Two notes: one of the area, one of the height of the tongue. Cite both.",
        "annotations": [
          {
            "type": "document_citation",
            "document_citation": {
              "start_index": 0,
              "end_index": 57,
              "document_id": "doc-survey"
            }
          },
          {
            "type": "document_citation",
            "document_citation": {
              "start_index": 64,
              "end_index": 92,
              "document_id": "doc-diary"
            }
          }
        ]
      },
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "queue_time": 0.0423,
    "prompt_tokens": 168,
    "prompt_time": 0.0031,
    "completion_tokens": 61,
    "completion_time": 0.0874,
    "total_tokens": 229,
    "total_time": 0.0905,
    "completion_tokens_details": {
      "reasoning_tokens": 24
    }
  },
  "usage_breakdown": null,
  "system_fingerprint": "fp_5c1d0e7b2a",
  "x_groq": {
    "id": "req_01m729tdvr5q8w2r4t6y9n1b3v",
    "seed": 90121
  },
  "service_tier": "on_demand"
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
    try:
        whole = litellm.completion(
            model="groq/openai/gpt-oss-120b",
            messages=[{"role": "user", "content": "Hi"}],
            api_base=url,
            api_key="key",
        )
    except litellm.APIConnectionError as error:
        return str(error)[:120], True
    return whole.choices[0].message.content, False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "an annotation of the type document_citation")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
