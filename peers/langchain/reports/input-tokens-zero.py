"""langchain-anthropic: input tokens of a stream are 0 if only message_start has them.

Until August 2025, Anthropic's message_delta had `output_tokens` alone. Since then it repeats `input_tokens`, which
Anthropic's SDK leaves optional.

https://github.com/langchain-ai/langchain/issues/35509

Needs langchain-anthropic and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic

BODY = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-3-haiku-20240307","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":610,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Green."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":66}}

event: message_stop
data: {"type":"message_stop"}

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
    model = ChatAnthropic(model="claude-3-haiku-20240307", base_url=url, api_key="none", max_retries=0)
    whole = None
    for chunk in model.stream("Hi"):
        whole = chunk if whole is None else whole + chunk
    return f"usage_metadata {whole.usage_metadata}", whole.usage_metadata["input_tokens"] != 610


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: 610 input tokens; {said}")
sys.exit(1 if is_wrong else 0)
