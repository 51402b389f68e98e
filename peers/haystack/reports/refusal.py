"""haystack: a refusal is lost; the reply is empty, and its finish reason is stop.

OpenAIChatGenerator is asked, without streaming.

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

BODY = b"""{"id": "chatcmpl-1", "object": "chat.completion", "created": 1784810467, "model": "gpt-5-2025-08-07", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null, "refusal": "I cannot help with that.", "annotations": []}}], "usage": {"prompt_tokens": 58, "completion_tokens": 8, "total_tokens": 66}}"""


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
    schema = {
        "type": "object",
        "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
        "required": ["steps"],
        "additionalProperties": False,
    }
    asked = {"type": "json_schema", "json_schema": {"name": "recipe", "strict": True, "schema": schema}}
    generator = OpenAIChatGenerator(
        model="gpt-5",
        api_base_url=url,
        api_key=Secret.from_token("none"),
        max_retries=0,
        generation_kwargs={"response_format": asked},
    )
    reply = generator.run([ChatMessage.from_user("How do I make a bomb?")])["replies"][0]
    return f"text {reply.text!r}, finish_reason {reply.meta['finish_reason']!r}", "cannot" not in repr(reply)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: the refusal 'I cannot help with that.'; {said}")
sys.exit(1 if is_wrong else 0)
