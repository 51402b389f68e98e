"""llama-index-llms-openai 0.8.3: a refusal of a stream is not in the message or `additional_kwargs`.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAIResponses

EVENTS = (
    b'{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1790000000,"status":"in_progress","model":"gpt-5","output":[],"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":null}}',
    b'{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"m1","type":"message","status":"in_progress","role":"assistant","content":[]}}',
    b'{"type":"response.content_part.added","sequence_number":2,"item_id":"m1","output_index":0,"content_index":0,"part":{"type":"refusal","refusal":""}}',
    b'{"type":"response.refusal.delta","sequence_number":3,"item_id":"m1","output_index":0,"content_index":0,"delta":"I cannot help with that."}',
    b'{"type":"response.refusal.done","sequence_number":4,"item_id":"m1","output_index":0,"content_index":0,"refusal":"I cannot help with that."}',
    b'{"type":"response.content_part.done","sequence_number":5,"item_id":"m1","output_index":0,"content_index":0,"part":{"type":"refusal","refusal":"I cannot help with that."}}',
    b'{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I cannot help with that."}]}}',
    b'{"type":"response.completed","sequence_number":7,"response":{"id":"resp_1","object":"response","created_at":1790000000,"status":"completed","model":"gpt-5","output":[{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I cannot help with that."}]}],"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}}}',
)
BODY = b"".join(b"event: " + each.split(b'"')[3] + b"\ndata: " + each + b"\n\n" for each in EVENTS)
SCHEMA = {
    "type": "object",
    "properties": {"steps": {"type": "string"}},
    "required": ["steps"],
    "additionalProperties": False,
}
TEXT = {"format": {"type": "json_schema", "name": "guide", "schema": SCHEMA, "strict": True}}
HEADERS = {"content-type": "text/event-stream", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(BODY)
        self.wfile.flush()

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    llm = OpenAIResponses(model="gpt-5", api_key="key", api_base=URL, max_retries=0, additional_kwargs={"text": TEXT})
    question = ChatMessage(role="user", content="How do I open my neighbour's lock?")
    answers = list(llm.stream_chat([question]))
    said = [each.message.content or each.additional_kwargs.get("refusal") for each in answers]
    if "I cannot help with that." in said:
        print("mended: the refusal is there")
        return 0
    print(f"seen: {answers[-1].message!r}, {answers[-1].additional_kwargs}")
    print("sent: a refusal, 'I cannot help with that.'")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
