"""llama-index-llms-anthropic 0.12.3: an answer with a block of a new type cannot be read.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.anthropic import Anthropic

BODY = (
    b'{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"s'
    b'erver_tool_use","id":"srvtoolu_01","name":"advisor","input":{}},{"type":"advisor_tool_result","tool_'
    b'use_id":"srvtoolu_01","content":{"type":"advisor_result","text":"One table is enough.","stop_reason"'
    b':"end_turn"}},{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence"'
    b':null,"usage":{"input_tokens":1,"output_tokens":2}}'
)
HEADERS = {"content-type": "application/json", "content-length": str(len(BODY))}


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
    beta = {"anthropic-beta": "advisor-tool-2026-03-01"}
    llm = Anthropic(model="claude-sonnet-5", api_key="key", base_url=URL, max_retries=0, default_headers=beta)
    question = ChatMessage(role="user", content="One table or two? Ask your advisor, then say hello.")
    tools = [{"type": "advisor_20260301", "name": "advisor", "model": "claude-opus-4-8"}]
    try:
        message = llm.chat([question], tools=tools).message
    except Exception as error:
        if "TextBlock" not in str(error):
            raise
        print(f"seen: {type(error).__module__}.{type(error).__qualname__}: {error}")
        print("sent: server_tool_use, advisor_tool_result, then a text")
        return 1
    if message.content != "Hello":
        return 2
    print("mended: the answer is returned")
    return 0


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
