"""llama-index-llms-openai 0.8.3: of an answer with two messages, only the citations of the second are there.

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
    b'_text","text":"First. ","annotations":[{"type":"url_citation","url":"https://example.com/1","title":'
    b'"One","start_index":0,"end_index":5}]}]},{"id":"m2","type":"message","status":"completed","role":"ass'
    b'istant","content":[{"type":"output_text","text":"Second.","annotations":[{"type":"url_citation","url"'
    b':"https://example.com/2","title":"Two","start_index":0,"end_index":6}]}]}],"parallel_tool_calls":true'
    b',"tools":[],"tool_choice":"auto","usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0}'
    b',"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}}'
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
    response = llm.chat([question])
    urls = [each.url for each in response.additional_kwargs["annotations"]]
    if urls == ["https://example.com/1", "https://example.com/2"]:
        print("mended: the citations of both messages are there")
        return 0
    print(f"seen: {urls}")
    print("sent: a message that cites https://example.com/1 and one that cites https://example.com/2")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
