"""The `include` of a request is replaced.

`include` is a parameter of responses that a caller may give by `kwargs`. For models that reason chatlas sets it to `reasoning.encrypted_content`, and drops what the caller asked for, such as `message.output_text.logprobs` or `web_search_call.action.sources`.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatOpenAI

ASKED = []
SENT = b"""\
{
  "id": "resp_066dcc020aca6376016a6984201dc381af62f8670e0f5bf1f4",
  "object": "response",
  "created_at": 1785300000,
  "status": "completed",
  "background": false,
  "billing": {
    "payer": "developer"
  },
  "completed_at": 1785300002,
  "error": null,
  "frequency_penalty": 0.0,
  "incomplete_details": null,
  "instructions": null,
  "max_output_tokens": null,
  "max_tool_calls": null,
  "model": "gpt-5.4-2026-03-05",
  "moderation": null,
  "output": [
    {
      "id": "msg_066dcc020aca6376016a6984215e7f81affa41dbfa8ca9d3d1",
      "type": "message",
      "status": "completed",
      "content": [
        {
          "type": "output_text",
          "annotations": [],
          "logprobs": [
            {
              "bytes": [
                71,
                114,
                195,
                188,
                195,
                159,
                101
              ],
              "logprob": -0.0625,
              "token": "Gr\xc3\xbc\xc3\x9fe",
              "top_logprobs": [
                {
                  "bytes": [
                    71,
                    114,
                    195,
                    188,
                    195,
                    159,
                    101
                  ],
                  "logprob": -0.0625,
                  "token": "Gr\xc3\xbc\xc3\x9fe"
                }
              ]
            },
            {
              "bytes": [
                32,
                97,
                117,
                115
              ],
              "logprob": -0.0625,
              "token": " aus",
              "top_logprobs": [
                {
                  "bytes": [
                    32,
                    97,
                    117,
                    115
                  ],
                  "logprob": -0.0625,
                  "token": " aus"
                }
              ]
            },
            {
              "bytes": [
                32,
                70,
                195,
                182,
                104,
                114
              ],
              "logprob": -0.0625,
              "token": " F\xc3\xb6hr",
              "top_logprobs": [
                {
                  "bytes": [
                    32,
                    70,
                    195,
                    182,
                    104,
                    114
                  ],
                  "logprob": -0.0625,
                  "token": " F\xc3\xb6hr"
                }
              ]
            }
          ],
          "text": "Gr\xc3\xbc\xc3\x9fe aus F\xc3\xb6hr"
        }
      ],
      "phase": "final_answer",
      "role": "assistant"
    }
  ],
  "parallel_tool_calls": true,
  "presence_penalty": 0.0,
  "previous_response_id": null,
  "prompt_cache_key": null,
  "prompt_cache_retention": "24h",
  "reasoning": {
    "context": "current_turn",
    "effort": "none",
    "mode": "standard",
    "summary": null
  },
  "safety_identifier": null,
  "service_tier": "default",
  "store": false,
  "temperature": 1.0,
  "text": {
    "format": {
      "type": "text"
    },
    "verbosity": "medium"
  },
  "tool_choice": "auto",
  "tool_usage": {
    "image_gen": {
      "input_tokens": 0,
      "input_tokens_details": {
        "image_tokens": 0,
        "text_tokens": 0
      },
      "output_tokens": 0,
      "output_tokens_details": {
        "image_tokens": 0,
        "text_tokens": 0
      },
      "total_tokens": 0
    },
    "web_search": {
      "num_requests": 0
    }
  },
  "tools": [],
  "top_logprobs": 1,
  "top_p": 0.98,
  "truncation": "disabled",
  "usage": {
    "input_tokens": 11,
    "input_tokens_details": {
      "cache_write_tokens": 0,
      "cached_tokens": 0
    },
    "output_tokens": 8,
    "output_tokens_details": {
      "reasoning_tokens": 0
    },
    "total_tokens": 19
  },
  "user": null,
  "metadata": {}
}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    chat = ChatOpenAI(model="gpt-5.4-2026-03-05", api_key="key", base_url=url, kwargs={"max_retries": 0})

    try:
        chat.chat("Hi", echo="none", stream=False, kwargs={"include": ["web_search_call.action.sources"]})
    except Exception as error:
        print("the answer:", type(error).__name__)
    include = ASKED[-1].get("include")
    return f"include {include}", "web_search_call.action.sources" not in (include or ())


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "include = [web_search_call.action.sources] asked for")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
