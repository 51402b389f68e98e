"""langchain-openai: a refusal in a stream of chat completions is lost if the request has no `response_format`.

https://github.com/langchain-ai/langchain/issues/39747. Without a stream it is in `additional_kwargs`.

Needs langchain-openai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_openai import ChatOpenAI

BODY = b"""data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"refusal":"I cannot help with that."},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

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
    model = ChatOpenAI(model="gpt-5", base_url=url, api_key="none", max_retries=0)
    whole = None
    for chunk in model.stream("Hi"):
        whole = chunk if whole is None else whole + chunk
    return f"content {whole.content!r}, additional_kwargs {whole.additional_kwargs}", "cannot" not in repr(whole)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: the refusal 'I cannot help with that.'; {said}")
sys.exit(1 if is_wrong else 0)
