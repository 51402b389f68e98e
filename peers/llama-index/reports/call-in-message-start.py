"""llama-index-llms-anthropic 0.12.3: a call that comes whole in message_start is in no response of a stream.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.anthropic import Anthropic

BODY = b"""event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-5","id":"msg_01","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_01","name":"level","input":{"lock":"Volkerak"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}

event: message_stop
data: {"type":"message_stop"}

"""
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
    llm = Anthropic(model="claude-sonnet-4-5", api_key="key", base_url=URL, max_retries=0)
    question = ChatMessage(role="user", content="Hello")
    responses = list(llm.stream_chat([question]))
    if "toolu_01" in str([each.message.model_dump() for each in responses]):
        print("mended: the call is there")
        return 0
    print(f"seen: {len(responses)} responses, without the call")
    print("sent: message_start with the call of the tool level and the stop_reason tool_use, then message_stop")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
