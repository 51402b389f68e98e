"""A page of HTML in the place of a stream is an empty answer that ends with stop.

For a streaming request to OpenAI, a gateway or a captive portal sends the status 200 and a page of HTML. LiteLLM finds no event in it and ends the stream with a chunk of its own, `finish_reason` `stop`, so that it looks like a whole answer without text.

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
<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    stream = litellm.completion(
        model="openai/gpt-4o", messages=[{"role": "user", "content": "Hi"}], api_base=url, api_key="key", stream=True
    )
    whole = litellm.stream_chunk_builder(list(stream))

    choice = whole.choices[0]
    return f"content {choice.message.content!r}, finish reason {choice.finish_reason!r}", choice.finish_reason == "stop"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a page of HTML with status 200")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
