"""anthropic: an error of the connection in mid-stream is a raw httpx2 exception, no `anthropic.APIError`.

https://github.com/anthropics/anthropic-sdk-python/issues/1919

Needs anthropic and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if something
else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic

BODY = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half of the "}}

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
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    try:
        with client.messages.stream(
            model="claude-sonnet-5", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]
        ) as stream:
            stream.until_done()
    except anthropic.APIError as error:
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
