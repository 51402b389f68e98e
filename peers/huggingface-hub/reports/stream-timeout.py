"""huggingface_hub 2.4.0: a timeout in the middle of a stream is no InferenceTimeoutError.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import time
import traceback

from huggingface_hub import InferenceClient, InferenceTimeoutError

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
        time.sleep(3)  # longer than the client waits
        self.close_connection = True

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    client = InferenceClient(base_url=URL, api_key="key", timeout=1)
    messages = [{"role": "user", "content": "Hello"}]
    try:
        for _ in client.chat_completion(messages, model="m", stream=True):
            pass
    except InferenceTimeoutError as error:
        print(f"mended: {error!r}")
        return 0
    except Exception as error:
        if not type(error).__module__.startswith("httpx"):
            raise
        print(f"seen: {type(error).__module__}.{type(error).__qualname__}: {error}")
        print("sent: one event, then nothing for longer than the timeout; documented: InferenceTimeoutError")
        return 1
    return 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
