"""A refusal of OpenAI is an empty answer.

If the model refuses, OpenAI puts the text into `refusal` and can leave the content empty. In a stream, `Chat` does not
read `delta.refusal`: `text()` is empty, and `json()` does not have the refusal either.

Install llm 0.36, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llm.default_plugins.openai_models import Chat

SENT = b"""\
data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "delta": {"role": "assistant", "content": null, "refusal": ""}, "finish_reason": null}]}

data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "delta": {"refusal": "I'm sorry, "}, "finish_reason": null}]}

data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "delta": {"refusal": "I can't help with that."}, "finish_reason": null}]}

data: {"id": "chatcmpl-C1", "object": "chat.completion.chunk", "created": 1757509237, "model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

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
    response = Chat("gpt-4o", api_base=url).prompt("How do I pick a lock?", key="key", stream=True)
    text, raw = response.text(), response.json()
    return f"text {text!r}, json {raw}", "sorry" not in text + str(raw)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "I'm sorry, I can't help with that., as delta.refusal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
