"""A response that was cut off has no usage and no status in a stream.

OpenAI ends a stream of the Responses API with `response.incomplete` if, for example, `max_output_tokens` is reached.
`Responses` has no branch for this event: the counts are lost, and `json()` is None.

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

event: response.incomplete
data: {"type": "response.incomplete", "sequence_number": 4, "response": {"id": "resp_1", "object": "response", "created_at": 1757509237, "status": "incomplete", "error": null, "incomplete_details": {"reason": "max_output_tokens"}, "model": "gpt-5-2025-08-07", "output": [{"id": "msg_1", "type": "message", "status": "incomplete", "role": "assistant", "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "The first half"}]}], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": {"input_tokens": 12, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 16, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 28}}}

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
    text, usage, raw = response.text(), response.usage(), response.json()
    return f"text {text!r}, {usage}, json {raw}", raw is None or usage.input is None


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "usage of 12 and 16 tokens, status incomplete, reason max_output_tokens")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
