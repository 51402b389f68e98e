"""anthropic-haystack: the text blocks of a plain answer are joined with a space, which nobody sent.

In a stream they are joined as they are.

Needs anthropic-haystack and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator

BODY = b"""{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": [{"type": "text", "text": "It rai"}, {"type": "text", "text": "ned, "}, {"type": "text", "text": "and 'Stra"}, {"type": "text", "text": "sse' was wet."}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 9}}"""


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
    os.environ["ANTHROPIC_BASE_URL"] = url
    generator = AnthropicChatGenerator(model="claude-sonnet-5", api_key=Secret.from_token("none"), max_retries=0)
    reply = generator.run([ChatMessage.from_user("Hi")])["replies"][0]
    return f"{reply.text!r}", reply.text != "It rained, and 'Strasse' was wet."


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: 'It rai', 'ned, ', \"and 'Stra\", \"sse' was wet.\"; {said}")
sys.exit(1 if is_wrong else 0)
