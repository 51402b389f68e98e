"""llama-index-llms-openai 0.8.3: a response without token counts raises AttributeError.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAIResponses

BODY = (
    b'{"id":"resp_1","object":"response","created_at":1790000000,"status":"queued","background":true,"model'
    b'":"gpt-5","output":[],"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","usage":null}'
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
    llm = OpenAIResponses(
        model="gpt-5",
        api_key="key",
        api_base=URL,
        max_retries=0,
        store=True,
        additional_kwargs={"background": True},
    )
    question = ChatMessage(role="user", content="Hello")
    try:
        answer = llm.chat([question])
    except AttributeError as error:
        print(f"seen: AttributeError: {error}")
        print("sent: a response that is queued in the background, with the id resp_1, whose usage is null")
        return 1
    if answer.raw.id != "resp_1":
        return 2
    print("mended: the response is returned")
    return 0


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
