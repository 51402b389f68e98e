"""An error inside a stream is a ProviderError without a class of its own.

Claude reports an overload inside a stream as an event `error` of the type `overloaded_error`. any-llm raises `ProviderError` with the status 200, also for rate limits and requests that are too long, for which it has classes (`RateLimitError`, `ContextLengthExceededError`, `UpstreamProviderError`) before a stream.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import AnyLLM
from any_llm.exceptions import AnyLLMError

SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_01AHEHnaJCZKo0BWUQFC9oCS","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":24,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}    }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"The bo"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ard me"}   }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"t on Tuesd"}       }

event: error
data: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CdVtqXw5RkZ8aBn3YpE7m"}

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
    library = AnyLLM.create("anthropic", api_key="key", api_base=url, unified_exceptions=True, max_retries=0)
    try:
        list(
            library.completion(
                model="claude-haiku-4-5", messages=[{"role": "user", "content": "Hi"}], max_tokens=64, stream=True
            )
        )
    except AnyLLMError as error:
        return f"{type(error).__name__}, status {error.status_code}", type(error).__name__ == "ProviderError"
    except Exception as error:
        return type(error).__name__, True
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
    print("seen:", seen, "| sent:", "an error event of the type overloaded_error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
