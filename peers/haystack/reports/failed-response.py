"""haystack: a streamed response that failed is a reply like any other.

OpenAI ends a stream with `response.failed`. The parts that came before become the reply, whose `meta` has the error,
and no exception is raised.

Needs haystack-ai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from haystack.components.generators.chat import OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

BODY = b"""event: response.created
data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1785360009,"model":"gpt-5.4","output":[],"tools":[],"parallel_tool_calls":true,"tool_choice":"auto","status":"in_progress"},"sequence_number":0}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]},"sequence_number":1}

event: response.content_part.added
data: {"type":"response.content_part.added","output_index":0,"content_index":0,"item_id":"msg_1","part":{"type":"output_text","text":"","annotations":[]},"sequence_number":2}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_1","delta":"Half of the ","logprobs":[],"sequence_number":3}

event: response.failed
data: {"type":"response.failed","response":{"id":"resp_1","object":"response","created_at":1785360009,"model":"gpt-5.4","output":[],"tools":[],"parallel_tool_calls":true,"tool_choice":"auto","status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached for requests."}},"sequence_number":4}

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
    generator = OpenAIResponsesChatGenerator(
        model="gpt-5",
        api_base_url=url,
        api_key=Secret.from_token("none"),
        max_retries=0,
        streaming_callback=lambda chunk: None,
    )
    try:
        reply = generator.run([ChatMessage.from_user("Hi")])["replies"][0]
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    meta = {key: reply.meta.get(key) for key in ("status", "error")}
    return f"a reply {reply.text!r} with {meta}, and no error", True


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: half a response, then response.failed; {said}")
sys.exit(1 if is_wrong else 0)
