"""llama-index-llms-openai 0.8.3: a streamed response that fails ends like one that succeeds.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAIResponses

BODY = (
    b'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"'
    b'resp_1","object":"response","created_at":1790000000,"status":"in_progress","model":"gpt-5","out'
    b'put":[],"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":null}}\n\n'
    b'event: response.failed\ndata: {"type":"response.failed","sequence_number":1,"response":{"id":"re'
    b'sp_1","object":"response","created_at":1790000000,"status":"failed","model":"gpt-5","output":[]'
    b',"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":null,"error":{"code":"rate_'
    b'limit_exceeded","message":"Slow down."}}}\n\n'
)
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
    llm = OpenAIResponses(model="gpt-5", api_key="key", api_base=URL, max_retries=0)
    question = ChatMessage(role="user", content="Hello")
    try:
        answers = list(llm.stream_chat([question]))
    except Exception as error:
        if "Slow down." not in str(error):
            raise
        print(f"mended: {error!r}")
        return 0
    print(f"seen: {len(answers)} responses, no exception; the text of the last: {answers[-1].message.content!r}")
    print("sent: response.failed with the error rate_limit_exceeded: Slow down.")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
