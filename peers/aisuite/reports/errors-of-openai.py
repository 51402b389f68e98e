"""Errors of OpenAI before an answer raise LLMError without a status.

The provider for OpenAI catches every exception of a request and raises `LLMError` with its text. `LLMError` has no
status. The client's error is in `error.__context__`. A time-out is the same class.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
{
    "error": {
        "message": "Incorrect API key provided: llm-conf**************-key. A key can be found on the page of your account.",
        "type": "invalid_request_error",
        "param": null,
        "code": "invalid_api_key"
    }
}
"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = aisuite.Client({"openai": {"api_key": "key", "base_url": url, "max_retries": 0}})
    try:
        client.chat.completions.create("openai:gpt-4o", [{"role": "user", "content": "Hi"}])
    except Exception as error:
        return f"{type(error).__name__}, status {getattr(error, 'status_code', None)}", not hasattr(
            error, "status_code"
        )
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
    print("seen:", seen, "| sent:", "status 401")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
