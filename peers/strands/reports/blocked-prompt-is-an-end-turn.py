"""A prompt that Gemini blocks is an empty answer that ends with `end_turn`.

Gemini says `promptFeedback.blockReason` and sends no candidate. `GeminiModel` does not read it, and takes the missing candidate for a normal end.

Install strands-agents[gemini] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent
from strands.models.gemini import GeminiModel

SENT = b"""\
data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7},"modelVersion":"gemini-2.5-flash"}

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def turn(url):
    """Ask an agent; return the stop reason, the message and the usage."""
    model = GeminiModel(client_args={"api_key": "key", "http_options": {"base_url": url}}, model_id="gemini-2.5-flash")
    result = await Agent(model=model, callback_handler=None).invoke_async("Hi")
    return result.stop_reason, result.message, result.metrics.accumulated_usage


def call(url):
    """Return what is seen, and whether that is the fault."""
    reason, message, usage = asyncio.run(turn(url))
    return f"{reason}, {message['content']}, {usage}", not message["content"] and reason == "end_turn"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "promptFeedback with the blockReason PROHIBITED_CONTENT")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
