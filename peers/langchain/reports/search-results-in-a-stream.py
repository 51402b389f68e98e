"""langchain-anthropic: the text of a stream that cites search results is missing in `content_blocks`.

Search results in a question are blocks of the type `search_result`. `_documents_in_params`
looks only for blocks of the type `document`. So texts come as strings and citations as blocks: the sum of the chunks has the citations of a text on an empty block, and `content_blocks` leaves the strings out.

Needs langchain-anthropic and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic

BODY = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":610,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"search_result_location","cited_text":"Grass is green.","source":"https://example.org/1","title":"Grass","search_result_index":0,"start_block_index":0,"end_block_index":1}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is green."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":66}}

event: message_stop
data: {"type":"message_stop"}

"""
QUESTION = [
    {
        "type": "search_result",
        "source": "https://example.org/1",
        "title": "Grass",
        "content": [{"type": "text", "text": "Grass is green."}],
        "citations": {"enabled": True},
    },
    {"type": "text", "text": "What colour is grass?"},
]


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
    model = ChatAnthropic(model="claude-sonnet-5", base_url=url, api_key="none", max_retries=0)
    whole = None
    for chunk in model.stream([{"role": "user", "content": QUESTION}]):
        whole = chunk if whole is None else whole + chunk
    texts = [block["text"] for block in whole.content_blocks if block["type"] == "text"]
    return f"content {whole.content}, content_blocks {whole.content_blocks}", texts != ["It is green."]


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: the text 'It is green.' with a citation; {said}")
sys.exit(1 if is_wrong else 0)
