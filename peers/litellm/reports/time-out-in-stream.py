"""A time-out in the middle of a stream is not raised as Timeout.

After the first chunk nothing more comes. LiteLLM raises `MidStreamFallbackError`, a `ServiceUnavailableError`. `except litellm.Timeout`, which catches a time-out before the first chunk, does not see it.

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import os
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

SENT = b"""\
data: {"id": "a1c5e0f4", "object": "chat.completion.chunk", "created": 1762247560, "model": "deepseek-chat", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}]}

data: {"id": "a1c5e0f4", "object": "chat.co"""


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
        self.wfile.flush()
        time.sleep(8)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    try:
        list(
            litellm.completion(
                model="deepseek/deepseek-chat",
                messages=[{"role": "user", "content": "Hi"}],
                api_base=url,
                api_key="key",
                timeout=2,
                stream=True,
            )
        )
    except litellm.Timeout as error:
        return type(error).__name__, False
    except litellm.ServiceUnavailableError as error:
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
    print("seen:", seen, "| sent:", "one chunk, then nothing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
