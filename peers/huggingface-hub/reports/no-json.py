"""huggingface_hub 2.4.0: a page of a proxy raises json's error, not the library's.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError

BODY = b"<html><body>Sign in to go on</body></html>"
HEADERS = {"content-type": "text/html", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
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
    client = InferenceClient(base_url=URL, api_key="key", timeout=5)
    messages = [{"role": "user", "content": "Hello"}]
    try:
        client.chat_completion(messages, model="m")
    except HfHubHTTPError as error:
        print(f"mended: {error!r}")
        return 0
    except ValueError as error:
        print(f"seen: {type(error).__module__}.{type(error).__qualname__}: {error}")
        chunks = list(client.chat_completion(messages, model="m", stream=True))
        print(f"seen with stream=True: no error, {len(chunks)} chunks")
        print("sent: an HTML page with the status 200; expected: an error of the library that says so")
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
