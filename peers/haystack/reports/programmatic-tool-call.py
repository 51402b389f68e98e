"""anthropic-haystack: a streamed call that Claude makes from its code has no arguments.

If code that Claude runs calls a tool of the caller (programmatic tool calling), its block comes whole in
`content_block_start`, with its `input`, and no piece of the arguments follows. The tool call of the reply has {}.

Needs anthropic-haystack and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator

BODY = b"""event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-5-20250929","id":"msg_01Hc5uKzQwRt3Xb7VmPd9LyF","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3294,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_01F9GUNLCL8F2quc5N9HwdST","name":"code_execution","input":{},"caller":{"type":"direct"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"code\\": \\"print(await get_weather({'location': 'Boston'}))\\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01GBP4TihhPzB1SU2W4r2wbS","name":"get_weather","input":{"location":"Boston"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01F9GUNLCL8F2quc5N9HwdST"}}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":3294,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":92}}

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
    os.environ["ANTHROPIC_BASE_URL"] = url
    generator = AnthropicChatGenerator(
        model="claude-sonnet-4-5",
        api_key=Secret.from_token("none"),
        max_retries=0,
        streaming_callback=lambda chunk: None,
        anthropic_server_tools=[{"type": "code_execution_20250825", "name": "code_execution"}],
    )
    reply = generator.run([ChatMessage.from_user("What's the weather in Boston?")])["replies"][0]
    calls = [(call.tool_name, call.arguments) for call in reply.tool_calls]
    return f"{calls}", calls != [("get_weather", {"location": "Boston"})]


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: get_weather with the input {{'location': 'Boston'}} in content_block_start; {said}")
sys.exit(1 if is_wrong else 0)
