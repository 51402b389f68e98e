"""A page of HTML in the place of a stream is an empty answer.

If a proxy answers with a page of HTML and the status 200, the stream has no events. `text()` is then empty, `json()` has
no finish reason, and no exception is raised.

Install llm 0.36, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llm.default_plugins.openai_models import Chat

SENT = b"""\
<html><body><h1>Sign in to the network</h1></body></html>
"""


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
    response = Chat("gpt-4o", api_base=url).prompt("Hi", key="key", stream=True)
    try:
        text = response.text()
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    return f"text {text!r}, no error", True


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a page of HTML")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
