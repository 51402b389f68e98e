"""cerebras-cloud-sdk 1.91.0: a connection lost within a stream raises httpx's error, not the library's.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from cerebras.cloud import sdk

HEADERS = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
EVENT = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1790000000,"model":"m","system_fingerprint":"f",'
    b'"choices":[{"index":0,"delta":{"role":"assistant","content":"Half an"},"finish_reason":null}]}\n\n'
)
BODY = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)


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
        self.close_connection = True  # without the last chunk of the body

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    client = sdk.Cerebras(base_url=URL, api_key="key", max_retries=0, warm_tcp_connection=False)
    try:
        for _ in client.chat.completions.create(
            model="gpt-oss-120b", messages=[{"role": "user", "content": "Hello"}], stream=True
        ):
            pass
    except sdk.APIError as error:
        print(f"mended: {error!r} is an APIError")
        return 0
    except Exception as error:
        if not type(error).__module__.startswith("httpx"):
            raise
        print(f"seen: {type(error).__module__}.{type(error).__qualname__}: {error}")
        print("sent: one event, then the connection was closed within the body; expected: an APIConnectionError")
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
