"""llama-index-llms-anthropic 0.12.3: what Claude's hosted tools did is dropped.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.anthropic import Anthropic

BODY = b'{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"I look for the wind."},{"type":"server_tool_use","id":"srvtoolu_01","name":"web_search","input":{"query":"wind"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_01","content":[]},{"type":"server_tool_use","id":"srvtoolu_02","name":"web_search","input":{"query":"wind today"}}],"stop_reason":"pause_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}'
REQUESTS = []
TOOLS = [{"type": "web_search_20250305", "name": "web_search"}]
HEADERS = {"content-type": "application/json", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send them."""
        REQUESTS.append(self.rfile.read(int(self.headers["content-length"])).decode())
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
    message = llm.chat([question], tools=TOOLS).message
    if message.content != "I look for the wind.":
        return 2
    llm.chat([question, message], tools=TOOLS)
    if "srvtoolu_01" in REQUESTS[1]:
        print("mended: the blocks go back")
        return 0
    print(f"seen: the next request: {REQUESTS[1]}")
    print("sent: text, server_tool_use, web_search_tool_result, server_tool_use, with the stop_reason pause_turn")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
