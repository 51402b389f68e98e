"""anthropic-haystack: `temperature`, `top_p` and `top_k` raise TypeError with anthropic 2.12.0.

All three are documented parameters of `generation_kwargs`. The client has taken them out of `messages.create`;
anthropic-haystack asks for anthropic>=0.74.0, without a limit, and passes them as before.

Needs anthropic-haystack 8.0.1 with anthropic 2.12.0 and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
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

BODY = b"""{"model":"claude-sonnet-4-5-20250929","id":"msg_01Hc5uKzQwRt3Xb7VmPd9LyF","type":"message","role":"assistant","content":[{"type":"text","text":"Hello!"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":8,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"service_tier":"standard"}}"""


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
    said, wrong = [], False
    for name, value in {"temperature": 0.5, "top_p": 0.9, "top_k": 40}.items():
        generator = AnthropicChatGenerator(
            model="claude-sonnet-4-5",
            api_key=Secret.from_token("none"),
            max_retries=0,
            generation_kwargs={name: value},
        )
        try:
            said.append(f"{name}: {generator.run([ChatMessage.from_user('Hi')])['replies'][0].text!r}")
        except TypeError as error:
            said.append(f"{name}: {error!r}")
            wrong = True
    return "; ".join(said), wrong


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: one request for each parameter; {said}")
sys.exit(1 if is_wrong else 0)
