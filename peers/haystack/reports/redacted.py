"""anthropic-haystack: the word [REDACTED] is put into the reasoning.

A redacted block has no text. Its place in the reasoning is filled with a word that the model did not write.

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

BODY = b"""{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "thinking", "thinking": "First the chapter.", "signature": "c2lnMQ=="}, {"type": "redacted_thinking", "data": "cmVk"}, {"type": "text", "text": "Done."}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 9}}"""


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
    generator = AnthropicChatGenerator(model="claude-sonnet-4-5", api_key=Secret.from_token("none"), max_retries=0)
    reply = generator.run([ChatMessage.from_user("Hi")])["replies"][0]
    return f"reasoning {reply.reasoning.reasoning_text!r}", reply.reasoning.reasoning_text != "First the chapter."


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: the reasoning 'First the chapter.' and a redacted block; {said}")
sys.exit(1 if is_wrong else 0)
