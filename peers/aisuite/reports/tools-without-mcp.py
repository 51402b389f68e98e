"""A request with tools that are given as schemas raises NameError.

`client.chat.completions.create` calls `is_mcp_config` for each tool that is a dict, if no stream is asked for. The
function is imported only if the package `mcp` is installed, which is no requirement of aisuite.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
{}"""


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
    client = aisuite.Client({"openai": {"api_key": "key", "base_url": url, "max_retries": 0}})
    tool = {"type": "function", "function": {"name": "level", "parameters": {"type": "object", "properties": {}}}}
    try:
        client.chat.completions.create("openai:gpt-4o", [{"role": "user", "content": "Hi"}], tools=[tool])
    except NameError as error:
        return repr(error), True
    except Exception as error:
        return f"{type(error).__name__}, after the request", False
    return "an answer", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "nothing, the error comes before")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
