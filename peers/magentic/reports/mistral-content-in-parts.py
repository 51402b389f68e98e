"""magentic 0.41.1: the answer of a Mistral model that reasons cannot be read as a `str`.

Exit code 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from magentic import UserMessage
from magentic.chat_model.mistral_chat_model import MistralChatModel

HEAD = b'{"id":"08d3c1f94be7426f9a51e0c2764b8ad5","object":"chat.completion.chunk","created":1791730000,\
"model":"magistral-medium-2509","choices":'
CHOICES = (
    b'[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]',
    b'[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Two and two."}]}]},\
"finish_reason":null}]',
    b'[{"index":0,"delta":{"content":"Four."},"finish_reason":null}]',
    b'[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]',
)
BODY = b"".join(b"data: " + HEAD + each + b"}\n\n" for each in CHOICES) + b"data: [DONE]\n\n"


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
    model = MistralChatModel("magistral-medium-latest", api_key="key", base_url=URL)
    try:
        message = model.complete([UserMessage("What is two and two?")])
    except TypeError as error:
        print(f"seen: TypeError: {error}")
        print("sent: a part of thinking, then 'Four.'; expected: 'Four.'")
        return 1
    print(f"mended: {message.content!r}")
    return 0 if "Four." in message.content else 2


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
