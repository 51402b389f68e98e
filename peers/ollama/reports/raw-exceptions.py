"""ollama 0.6.3: a page of a proxy, a timeout and a lost connection raise errors of json and httpx, not the library's.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import time
import traceback

import ollama

BODY = b"<html><body>Sign in to go on</body></html>"
HEADERS = {"content-type": "text/html", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send them."""
        asked = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(BODY if b"llama-page" in asked else BODY[:9])
        self.wfile.flush()
        if b"llama-silent" in asked:
            time.sleep(3)
        self.close_connection = True  # for llama-lost in the middle of the body

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    seen = {}
    for model in ("llama-page", "llama-silent", "llama-lost"):
        for stream in (False, True):
            try:
                for _ in ollama.Client(URL, timeout=1).chat(
                    model, [{"role": "user", "content": "Hello"}], stream=stream
                ):
                    pass
            except Exception as error:
                seen[f"{model}{', stream' if stream else ''}"] = f"{type(error).__module__}.{type(error).__qualname__}"
    if len(seen) != 6:
        raise AssertionError(seen)
    raw = {case: name for case, name in seen.items() if name.startswith(("httpx", "json."))}
    if not raw:
        print("mended: none of them is httpx's or json's")
        return 0
    print("\n".join(f"seen: {name} ({case})" for case, name in raw.items()))
    print("sent: an HTML page with the status 200, a part and then silence, a part and then the end of the connection;")
    print("documented: ResponseError if the request could not be fulfilled")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
