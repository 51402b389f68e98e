"""llama-index-llms-openai 0.8.3: the text of an answer with two messages comes twice.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAIResponses

BODY = (
    b'{"id":"resp_1","object":"response","created_at":1790000000,"status":"completed","model":"gpt-5","out'
    b'put":[{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"output'
    b'_text","text":"First. ","annotations":[]}]},{"id":"m2","type":"message","status":"completed","role":'
    b'"assistant","content":[{"type":"output_text","text":"Second.","annotations":[]}]}],"parallel_tool_ca'
    b'lls":true,"tools":[],"tool_choice":"auto","usage":{"input_tokens":1,"input_tokens_details":{"cached_'
    b'tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}}'
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
    llm = OpenAIResponses(model="gpt-5", api_key="key", api_base=URL, max_retries=0)
    question = ChatMessage(role="user", content="Hello")
    text = llm.chat([question]).message.content
    if text.split() == ["First.", "Second."]:
        print("mended: each text comes once")
        return 0
    print(f"seen: {text!r}")
    print("sent: a message 'First. ' and a message 'Second.'")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
