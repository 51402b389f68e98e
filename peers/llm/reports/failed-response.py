"""A response that fails in the middle of a stream is returned as if it were whole.

OpenAI can end a stream of the Responses API with `response.failed`. If no event `error` comes before it, nothing raises:
`Responses` has no branch for it. What came until then is returned as the answer, and `json()` is None.

Install llm 0.36, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llm.default_plugins.openai_models import Responses

SENT = b"""\
event: response.created
data: {"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1", "object": "response", "created_at": 1757509237, "status": "in_progress", "error": null, "incomplete_details": null, "model": "gpt-5-2025-08-07", "output": [], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": null}}

event: response.output_item.added
data: {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}}

event: response.content_part.added
data: {"type": "response.content_part.added", "sequence_number": 2, "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}}

event: response.output_text.delta
data: {"type": "response.output_text.delta", "sequence_number": 3, "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "The first half", "logprobs": []}

event: response.failed
data: {"type": "response.failed", "sequence_number": 4, "response": {"id": "resp_1", "object": "response", "created_at": 1757509237, "status": "failed", "error": {"code": "server_error", "message": "The model failed to generate a response."}, "incomplete_details": null, "model": "gpt-5-2025-08-07", "output": [], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": null}}

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
    response = Responses("gpt-5", api_base=url).prompt("Hi", key="key", stream=True)
    try:
        text = response.text()
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    return f"text {text!r}, no error, json {response.json()}", "server_error" not in str(response.json())


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "The first half, then response.failed with server_error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
