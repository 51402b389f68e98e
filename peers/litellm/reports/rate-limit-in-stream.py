"""A rate limit that Claude reports inside a stream is a server error.

The event `error` has the type `rate_limit_error`, which Anthropic documents as the type of the status 429 (https://platform.claude.com/docs/en/api/errors). LiteLLM raises `MidStreamFallbackError` with the status 500; its `original_exception` is an `InternalServerError`. So neither `except litellm.RateLimitError` nor the status shows that it is a rate limit.

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
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_01xloHp5GtfS16G77zkKUZJE","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":16,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}              }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}   }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"From Sj\xc3\xb6torp on: "}        }

event: error
data: {"type":"error","error":{"details":null,"type":"rate_limit_error","message":"Number of output tokens has exceeded your per-minute rate limit"},"request_id":"req_011CdVwbnZ4mKq7RtY2sHc9e"}

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    try:
        list(
            litellm.completion(
                model="anthropic/claude-sonnet-4-5",
                messages=[{"role": "user", "content": "Hi"}],
                max_tokens=64,
                api_base=url,
                api_key="key",
                stream=True,
            )
        )
    except litellm.RateLimitError as error:
        return repr(error)[:120], False
    except litellm.ServiceUnavailableError as error:
        original = getattr(error, "original_exception", None)
        seen = f"{type(error).__name__} with status {error.status_code}, original_exception {type(original).__name__}"
        return seen, error.status_code != 429 and not isinstance(original, litellm.RateLimitError)
    return "no error", True


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "an error event of the type rate_limit_error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
