"""ollama 0.6.3: a page of a proxy raises json's error, not the library's.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

import ollama

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
    seen = []
    for stream in (False, True):
        try:
            for _ in ollama.Client(URL).chat("llama3.2", [{"role": "user", "content": "Hello"}], stream=stream):
                pass
        except Exception as error:
            seen.append(f"{type(error).__module__}.{type(error).__qualname__}")
    if seen == ["ollama._types.ResponseError"] * 2:
        print("mended: both are a ResponseError")
        return 0
    if seen != ["json.decoder.JSONDecodeError"] * 2:
        raise AssertionError(seen)
    print(f"seen: {', '.join(seen)}")
    print("sent: an HTML page with the status 200; documented: ResponseError if the request could not be fulfilled")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
