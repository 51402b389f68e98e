"""llama-index-llms-anthropic 0.12.3: the id and the model of a streamed answer are given nowhere.

Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

from llama_index.core.llms import ChatMessage
from llama_index.llms.anthropic import Anthropic

BODY = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01","type":"message","r'
    b'ole":"assistant","model":"claude-3-7-sonnet-20250219","content":[],"stop_reason":null,"stop_sequence":nu'
    b'll,"usage":{"input_tokens":8,"output_tokens":2}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type'
    b'":"text","text":""}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_'
    b'delta","text":"Hello"}}\n\n'
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequ'
    b'ence":null},"usage":{"input_tokens":8,"output_tokens":2}}\n\n'
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
    answers = list(llm.stream_chat([ChatMessage(role="user", content="Hello")]))
    if answers[-1].message.content != "Hello":
        return 2
    given = " ".join(f"{each.raw} {each.additional_kwargs} {each.message.additional_kwargs}" for each in answers)
    lost = [each for each in ("msg_01", "claude-3-7-sonnet-20250219") if each not in given]
    if not lost:
        print("mended: the id and the model are there")
        return 0
    print(f"seen in {len(answers)} responses: without {', '.join(lost)}; raw of the last: {answers[-1].raw}")
    print("sent: the id msg_01 and the model claude-3-7-sonnet-20250219, in message_start")
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
