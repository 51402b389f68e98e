"""mirascope 2.8.2: Anthropic's 529 is a bare ProviderError without a status.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from mirascope import llm

BODY = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
HEADERS = {"content-type": "application/json", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(529)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(BODY)
        self.wfile.flush()

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    llm.register_provider("anthropic", api_key="key", base_url=URL)
    model = llm.Model("anthropic/claude-sonnet-4-5")
    provider = model.provider
    provider.client = provider.client.with_options(max_retries=0)
    try:
        model.call("Hello")
    except llm.APIError as error:
        print(f"mended: {error!r} with the status {error.status_code}")
        return 0
    except llm.ProviderError as error:
        print(f"seen: {type(error).__qualname__}, status_code: {getattr(error, 'status_code', 'no such attribute')}")
        print("sent: status 529; expected: ServerError, as for 500")
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
