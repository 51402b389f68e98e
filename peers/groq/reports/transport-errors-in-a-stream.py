"""groq: an error of the connection in mid-stream is a raw httpx exception, no `groq.APIError`.

The connection is lost behind the first chunk.

Needs groq and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if something else
went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import groq

BODY = b"""data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"openai/gpt-oss-20b","choices":[{"index":0,"delta":{"role":"assistant","content":"Half of the "},"finish_reason":null}]}

"""


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(BODY), BODY))
        self.close_connection = True  # without the last chunk: the connection is lost

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    client = groq.Groq(base_url=url, api_key="none", max_retries=0)
    try:
        for _ in client.chat.completions.create(
            model="openai/gpt-oss-20b", messages=[{"role": "user", "content": "Hi"}], stream=True
        ):
            pass
    except groq.APIError as error:
        return type(error).__name__, False
    except Exception as error:
        return f"{type(error).__module__}.{type(error).__name__}: {error}", type(error).__module__.startswith("httpx")
    return "no error", True


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: half a stream, then the connection was lost; {said}")
sys.exit(1 if is_wrong else 0)
