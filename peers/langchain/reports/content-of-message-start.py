"""langchain-anthropic: blocks that are whole in message_start are lost in a stream.

https://github.com/langchain-ai/langchain/issues/34406

Further calls of code that runs at Anthropic (programmatic tool calling) come so: the message is complete in its first
event.

Needs langchain-anthropic and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

BODY = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"tool_use","id":"toolu_1","name":"level","input":{"gauge":"Kaub"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}

event: message_stop
data: {"type":"message_stop"}

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
    model = ChatAnthropic(model="claude-sonnet-5", base_url=url, api_key="none", max_retries=0)
    tools = [
        {"type": "code_execution_20250825", "name": "code_execution"},
        {
            "name": "level",
            "description": "Water level at a gauge.",
            "input_schema": {"type": "object", "properties": {"gauge": {"type": "string"}}, "required": ["gauge"]},
            "allowed_callers": ["code_execution_20250825"],
        },
    ]
    code = {"code": "print(await level({'gauge': 'Bonn'}), await level({'gauge': 'Kaub'}))"}
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    first = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": code},
        {"type": "tool_use", "id": "toolu_0", "name": "level", "input": {"gauge": "Bonn"}, "caller": caller},
    ]
    calls = [{"name": "level", "args": {"gauge": "Bonn"}, "id": "toolu_0"}]
    messages = [
        HumanMessage("Which gauge is higher, Bonn or Kaub? Compare them in code."),
        AIMessage(first, tool_calls=calls),
        ToolMessage("3.12", tool_call_id="toolu_0"),
    ]
    whole = None
    for chunk in model.bind_tools(tools).stream(messages, container="container_1"):
        whole = chunk if whole is None else whole + chunk
    is_whole = whole.tool_calls and whole.response_metadata.get("stop_reason") == "tool_use" and whole.usage_metadata
    seen = f"tool_calls {whole.tool_calls}, usage_metadata {whole.usage_metadata}, {whole.response_metadata}"
    return seen, not is_whole


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: a call of level; {said}")
sys.exit(1 if is_wrong else 0)
