"""magentic 0.41.1: `complete` of AnthropicChatModel raises TypeError with anthropic 2.14.0.

Exit code 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from magentic import UserMessage
from magentic.chat_model.anthropic_chat_model import AnthropicChatModel

BODY = b"""\
event: message_start
data: {"type":"message_start","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant",\
"model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"stop_sequence":null,\
"usage":{"input_tokens":8,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello!"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

"""


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    model = AnthropicChatModel("claude-sonnet-4-5", api_key="key", base_url=URL)
    try:
        message = model.complete([UserMessage("Hello")])
    except TypeError as error:
        print(f"seen: TypeError: {error}")
        print("sent: nothing; expected: the request, and then 'Hello!'")
        return 1
    print(f"mended: {message.content!r}")
    return 0 if message.content == "Hello!" else 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
