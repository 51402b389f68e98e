"""llama-index-llms-openai 0.8.3: encrypted reasoning does not go back to the model.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback
import typing

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAIResponses

BODY = (
    b'{"id":"resp_1","object":"response","created_at":1790000000,"status":"completed","model":"gpt-5","out'
    b'put":[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAAsealed"},{"id":"fc_1","'
    b'type":"function_call","status":"completed","call_id":"call_1","name":"look_up","arguments":"{}"}],"p'
    b'arallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":{"input_tokens":1,"input_tokens_det'
    b'ails":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_to'
    b'kens":3}}'
)
HEADERS = {"content-type": "application/json", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"
    seen: typing.ClassVar = []

    def do_POST(self):
        """Send them."""
        self.seen.append(self.rfile.read(int(self.headers["content-length"])))
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
    llm = OpenAIResponses(model="gpt-5", api_key="key", api_base=URL, max_retries=0)
    question = ChatMessage(role="user", content="Hello")
    tools = [{"type": "function", "name": "look_up", "parameters": {"type": "object", "properties": {}}}]
    first = llm.chat([question], tools=tools, include=["reasoning.encrypted_content"]).message
    result = ChatMessage(role="tool", content="found", additional_kwargs={"tool_call_id": "call_1"})
    llm.chat([question, first, result], tools=tools, include=["reasoning.encrypted_content"])
    sent = Server.seen[1].decode()
    if "call_1" not in sent:
        return 2
    if "gAAAAsealed" in sent:
        print("mended: the reasoning goes back")
        return 0
    print(f"seen: the message has it: {first.blocks[0]!r}")
    print(f"but the next request has not: {sent}")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
