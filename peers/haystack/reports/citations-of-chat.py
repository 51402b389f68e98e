"""haystack: the citations of chat completions are lost.

https://github.com/deepset-ai/haystack/issues/12682 says so of responses.

Needs haystack-ai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

BODY = b"""{"id": "chatcmpl-1", "object": "chat.completion", "created": 1784810467, "model": "gpt-5", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Green.", "annotations": [{"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 5, "title": "A", "url": "https://example.com/a"}}]}}]}"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    generator = OpenAIChatGenerator(model="gpt-5", api_base_url=url, api_key=Secret.from_token("none"), max_retries=0)
    reply = generator.run([ChatMessage.from_user("Hi")])["replies"][0]
    return f"{reply.to_dict()['content']}", "https://example.com/a" not in repr(reply)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: a citation of https://example.com/a; {said}")
sys.exit(1 if is_wrong else 0)
