"""langchain-openai: the citations of chat completions are lost.

Models that search, such as gpt-5-search-api, put them into `message.annotations`, and into `delta.annotations` of a stream.

Needs langchain-openai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_openai import ChatOpenAI

BODY = b"""{"id": "chatcmpl-1", "object": "chat.completion", "created": 1784810467, "model": "gpt-5-search-api", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Green.", "annotations": [{"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 5, "title": "A", "url": "https://example.com/a"}}]}}]}"""
STREAM = b"""data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-search-api","choices":[{"index":0,"delta":{"role":"assistant","content":"Green."},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-search-api","choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":5,"title":"A","url":"https://example.com/a"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-search-api","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        streams = b'"stream":true' in self.rfile.read(int(self.headers["Content-Length"])).replace(b": ", b":")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        self.wfile.write(STREAM if streams else BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    model = ChatOpenAI(model="gpt-5-search-api", base_url=url, api_key="none", max_retries=0)
    message, chunks = model.invoke("Hi"), list(model.stream("Hi"))
    lost = [
        name for name, each in (("plain", message), ("stream", chunks)) if "https://example.com/a" not in repr(each)
    ]
    return f"without it: {', '.join(lost)}; {message!r}", bool(lost)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: a citation of https://example.com/a; {said}")
sys.exit(1 if is_wrong else 0)
