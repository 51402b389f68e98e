"""langchain-anthropic: blocks of other types than text, thinking, tools and their results are lost in a stream.

Blocks of the types `mcp_tool_listing` and `fallback` come whole in their content_block_start, and there are no deltas.
Without a stream they are in `content`. The `fallback` block names the model that answered, and so does the last of
`usage.iterations`; the message has neither.

Needs langchain-anthropic and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic

BODY = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-fable-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":610,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"mcp_tool_listing","mcp_server_name":"harbours","tools":[{"name":"tides","description":"Tides of a harbour","input_schema":{"type":"object","properties":{}}}]}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"fallback","from":{"model":"claude-fable-5"},"to":{"model":"claude-opus-4-8"},"trigger":{"type":"refusal","category":"cyber"}}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Green."}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":66,"iterations":[{"type":"message","model":"claude-fable-5","input_tokens":610,"output_tokens":12,"cache_read_input_tokens":0,"cache_creation_input_tokens":0},{"type":"fallback_message","model":"claude-opus-4-8","input_tokens":622,"output_tokens":66,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}]}}

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
    model = ChatAnthropic(
        model="claude-fable-5",
        base_url=url,
        api_key="none",
        max_retries=0,
        mcp_servers=[{"type": "url", "url": "https://mcp.harbours.example/sse", "name": "harbours"}],
        betas=["mcp-client-2025-11-20", "server-side-fallback-2026-07-01"],
        model_kwargs={"fallbacks": [{"model": "claude-opus-4-8"}]},
    ).bind_tools([{"type": "mcp_toolset", "mcp_server_name": "harbours"}])
    whole = None
    for chunk in model.stream("Hi"):
        whole = chunk if whole is None else whole + chunk
    lost = [each for each in ("mcp_tool_listing", "claude-opus-4-8") if each not in repr(whole)]
    return f"content {whole.content}, model {whole.response_metadata.get('model_name')}", bool(lost)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: a block of the type mcp_tool_listing, a fallback to claude-opus-4-8, and a text; {said}")
sys.exit(1 if is_wrong else 0)
