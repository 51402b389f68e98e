"""together 3.1.1: a body of broken JSON raises json's error, not the library's.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

import together

BODY = b'{"id":"c1","object":"chat.completion","created":1790000000,"model":"m","choices":[{"index":0,"mess'
HEADERS = {"content-type": "application/json", "content-length": str(len(BODY))}


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
    client = together.Together(base_url=URL, api_key="key", max_retries=0)
    try:
        client.chat.completions.create(model="openai/gpt-oss-120b", messages=[{"role": "user", "content": "Hello"}])
    except together.APIError as error:
        print(f"mended: {error!r} is an APIError")
        return 0
    except ValueError as error:
        print(f"seen: {type(error).__module__}.{type(error).__qualname__}: {error}")
        print("sent: status 200 and JSON that breaks off; expected: an APIError, such as APIResponseValidationError")
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
