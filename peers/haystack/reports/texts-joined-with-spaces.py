"""anthropic-haystack: the text blocks of a plain answer are joined with a space, which nobody sent.

The blocks continue each other.

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

BODY = b"""{"id": "msg_01Hc5uKzQwRt3Xb7VmPd9LyF", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [{"type": "text", "text": "I will search."}, {"type": "server_tool_use", "id": "srvtoolu_01Xb7VmPd9LyFHc5uKzQwRt3", "name": "web_search", "input": {"query": "height of the tower"}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01Xb7VmPd9LyFHc5uKzQwRt3", "content": [{"type": "web_search_result", "title": "The tower", "url": "https://lighthouses.example.org/tower", "encrypted_content": "EpABCioIAhgBIiQ", "page_age": null}]}, {"type": "text", "text": "Here is what I found: "}, {"citations": [{"type": "web_search_result_location", "cited_text": "The lighthouse stands 54.9 metres tall", "url": "https://lighthouses.example.org/tower", "title": "The tower", "encrypted_index": "EpABCioIAhgBIiQ"}], "type": "text", "text": "the tower is about 55 metres tall"}, {"type": "text", "text": ".\\n\\n- "}, {"type": "text", "text": "Nobody lives there."}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 9}}"""
TEXT = "I will search.Here is what I found: the tower is about 55 metres tall.\n\n- Nobody lives there."


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
    generator = AnthropicChatGenerator(
        model="claude-sonnet-4-5",
        api_key=Secret.from_token("none"),
        max_retries=0,
        anthropic_server_tools=[{"type": "web_search_20250305", "name": "web_search"}],
    )
    reply = generator.run([ChatMessage.from_user("Hi")])["replies"][0]
    return f"{reply.text!r}", reply.text != TEXT


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: {TEXT!r} in five blocks; {said}")
sys.exit(1 if is_wrong else 0)
