"""The reasoning of servers that are compatible with OpenAI is lost.

Such servers send reasoning as `reasoning_content` or as `reasoning`. `Chat` reads neither.

Install llm 0.36, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llm.default_plugins.openai_models import Chat
from llm.parts import ReasoningPart

SENT = b"""\
data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "Qwen3.8-27B-UD-Q4_K_XL.gguf", "choices": [{"index": 0, "delta": {"role": "assistant", "content": null, "reasoning_content": "Six times seven."}, "finish_reason": null}]}

data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "Qwen3.8-27B-UD-Q4_K_XL.gguf", "choices": [{"index": 0, "delta": {"content": "42"}, "finish_reason": null}]}

data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "Qwen3.8-27B-UD-Q4_K_XL.gguf", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

data: [DONE]

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    response = Chat("local", api_base=url).prompt("6 * 7?", key="key", stream=True)
    parts = [part for message in response.messages() for part in message.parts]
    return f"{parts}", not any(isinstance(part, ReasoningPart) and part.text for part in parts)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "Six times seven., as delta.reasoning_content")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
