"""magentic 0.41.1: an answer without any text raises StopIteration.

Exit code 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from magentic import OpenaiChatModel, UserMessage

HEAD = b'{"id":"chatcmpl-CEEj0M284d0C9UVv5DbFJRMAp6Ocn","object":"chat.completion.chunk","created":1757509230,\
"model":"gpt-4o-2024-08-06","choices":'
CHOICES = (
    b'[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}]',
    b'[{"index":0,"delta":{"refusal":"I cannot help with that."},"finish_reason":null}]',
    b'[{"index":0,"delta":{},"finish_reason":"stop"}]',
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
    model = OpenaiChatModel("gpt-4o", api_key="key", base_url=URL)
    try:
        message = model.complete([UserMessage("How do I pick this lock?")])
    except StopIteration as error:
        print(f"seen: {error!r}")
        print("sent: a refusal; expected: a message, or an exception of the library that says so")
        return 1
    except Exception as error:
        print(f"mended: {error!r}")
        return 0
    print(f"mended: {message!r}")
    return 0


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
