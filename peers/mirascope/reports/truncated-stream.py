"""mirascope 2.8.2: a stream that breaks off has the finish reason of a complete one.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from mirascope import llm

BODY = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4o-mini","c'
    b'hoices":[{"index":0,"delta":{"role":"assistant","content":"Half an"},"finish_reason":null}]}\n\n'
)
HEADERS = {"content-type": "text/event-stream", "content-length": str(len(BODY))}


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
    llm.register_provider("openai", api_key="key", base_url=URL)
    model = llm.Model("openai/gpt-4o-mini:completions")
    response = model.stream("Hello")
    try:
        for _ in response.chunk_stream():
            pass
    except llm.Error as error:
        print(f"mended: {error!r}")
        return 0
    if response.finish_reason is not None:
        print(f"mended: finish_reason is {response.finish_reason}")
        return 0
    print(f"seen: no exception; text {response.text()!r}, finish_reason None, which is documented as a normal end")
    print("sent: one chunk; neither a finish_reason nor [DONE]")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
