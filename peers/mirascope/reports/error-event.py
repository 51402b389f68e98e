"""mirascope 2.8.2: a streamed response that ends with the event `error` looks like one that succeeds.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from mirascope import llm

BODY = (
    b'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"'
    b'resp_1","object":"response","created_at":1790000000,"status":"in_progress","model":"gpt-5","out'
    b'put":[],"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":null}}\n\n'
    b'event: error\ndata: {"type":"error","sequence_number":1,"code":"rate_limit_exceeded","message":"'
    b'Slow down.","param":null}\n\n'
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
    model = llm.Model("openai/gpt-5-mini:responses")
    response = model.stream("Hello")
    try:
        for _ in response.chunk_stream():
            pass
    except llm.ProviderError as error:
        print(f"mended: {error!r}")
        return 0
    print(f"seen: no exception; text {response.text()!r}, finish_reason {response.finish_reason}")
    print("sent: the event error with the code rate_limit_exceeded: Slow down.")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
