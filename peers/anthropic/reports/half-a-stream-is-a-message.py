"""anthropic: of a stream that ends in its middle, `get_final_message` returns half a message, and no error.

The body ends before `message_delta` and `message_stop`, and the connection is closed properly, as by a proxy that
restarts.

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
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    try:
        with client.messages.stream(
            model="claude-sonnet-5", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]
        ) as stream:
            message = stream.get_final_message()
    except anthropic.AnthropicError as error:
        return type(error).__name__, False
    return f"get_final_message() returned {message.content[0].text!r}", True


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: half a stream, without message_stop; {said}")
sys.exit(1 if is_wrong else 0)
