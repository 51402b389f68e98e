"""llama-index-llms-anthropic 0.12.3: cached tokens of a stream are missing if only message_start has them.

Until August 2025, Anthropic's message_delta had `output_tokens` alone. Since then it repeats the cached tokens, and
`raw` of the last response has them. https://github.com/run-llama/llama_index/pull/22657 is about the same counts.

Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.base.llms.types import CacheControl
from llama_index.core.llms import CachePoint, ChatMessage, TextBlock
from llama_index.llms.anthropic import Anthropic

BODY = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01","type":"message","r'
    b'ole":"assistant","model":"claude-3-7-sonnet-20250219","content":[],"stop_reason":null,"stop_sequence":nu'
    b'll,"usage":{"input_tokens":1,"cache_read_input_tokens":1165,"output_tokens":2}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type'
    b'":"text","text":""}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_'
    b'delta","text":"Hello"}}\n\n'
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequ'
    b'ence":null},"usage":{"output_tokens":2}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
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
    llm = Anthropic(model="claude-3-7-sonnet-20250219", api_key="key", base_url=URL, max_retries=0)
    cached = CachePoint(cache_control=CacheControl(type="ephemeral"))
    blocks = [TextBlock(text="It is a long text. " * 230), cached, TextBlock(text="Hello")]
    question = ChatMessage(role="user", blocks=blocks)
    answers = list(llm.stream_chat([question]))
    if answers[-1].message.content != "Hello":
        return 2
    given = [f"{each.raw} {each.additional_kwargs} {each.message.additional_kwargs}" for each in answers]
    print(f"sent: 1165 cached tokens, in message_start; the last of {len(answers)} responses: {given[-1]}")
    return 0 if "1165" in " ".join(given) else 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
