"""langchain-anthropic: tokens written to the cache are lost if only some of them have a known lifetime.

In recordings of January 2026 with Anthropic's own web search, cache_creation_input_tokens is more than the sum in
cache_creation. Anthropic documents that both are the same.

https://github.com/langchain-ai/langchain/pull/35845 counts by the parts on purpose.

Needs langchain-anthropic and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic

BODY = b"""{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-0", "content": [{"type": "text", "text": "Green."}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 100, "cache_creation_input_tokens": 12174, "cache_read_input_tokens": 0, "cache_creation": {"ephemeral_5m_input_tokens": 291, "ephemeral_1h_input_tokens": 0}, "output_tokens": 9}}"""


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
    model = ChatAnthropic(model="claude-sonnet-4-0", base_url=url, api_key="none", max_retries=0)
    usage = model.invoke("Hi").usage_metadata
    return f"usage_metadata {usage}", usage["input_tokens"] != 12274


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: 100 tokens, and 12174 written to the cache; {said}")
sys.exit(1 if is_wrong else 0)
