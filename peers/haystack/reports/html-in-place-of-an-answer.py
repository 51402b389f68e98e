"""anthropic-haystack: a page of HTML raises AttributeError.

A proxy answers with its sign-in page and status 200. The SDK hands on the text, and AnthropicChatGenerator takes it
for a stream.

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

BODY = b"""<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>
"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    os.environ["ANTHROPIC_BASE_URL"] = url
    generator = AnthropicChatGenerator(model="claude-sonnet-5", api_key=Secret.from_token("none"), max_retries=0)
    try:
        generator.run([ChatMessage.from_user("Hi")])
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}", True
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    return "no error", True


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: a page of HTML; {said}")
sys.exit(1 if is_wrong else 0)
