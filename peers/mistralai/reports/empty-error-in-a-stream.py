"""mistralai 3.7.0: an error status without a body, in place of a stream, raises httpx2.ResponseNotRead.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mistralai.client import Mistral


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the status 502 and no body, as a proxy does."""

    def do_POST(self):
        """Send it."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(502)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        """Say nothing."""


def main():
    """Return the exit code."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = Mistral(api_key="key", server_url=f"http://127.0.0.1:{server.server_port}", retry_config=None)
    try:
        client.chat.stream(model="mistral-small-latest", messages=[{"role": "user", "content": "Hello"}])
    except Exception as error:
        print(f"sent the status 502; seen: {type(error).__name__}, status_code {getattr(error, 'status_code', None)}")
        if getattr(error, "status_code", None) == 502:
            return 0
        if type(error).__name__ != "ResponseNotRead":
            raise
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
