"""Other finish reasons of Gemini are `end_turn`.

`GeminiModel` knows the finish reasons MAX_TOKENS, SAFETY and RECITATION, and takes others, such as MALFORMED_FUNCTION_CALL, for `end_turn`. An agent then ends with an empty message, as if the model had nothing to say. A stream that ends too early has no finish reason, and takes the same branch. If the answer has a call, the finish reason is not read, and the stop reason is `tool_use`.

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
data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0,"finishMessage":"Malformed function call: print(default_api.tide(port='Cux"}],"usageMetadata":{"promptTokenCount":58,"totalTokenCount":58},"modelVersion":"gemini-2.5-flash-lite","responseId":"6qent1W0RuwITPsRsO8Vbu"}

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


async def ask(url):
    """Ask an agent; return its result."""
    model = GeminiModel(
        client_args={"api_key": "key", "http_options": {"base_url": url}}, model_id="gemini-2.5-flash-lite"
    )
    return await Agent(model=model, callback_handler=None).invoke_async("When is high tide?")


def call(url):
    """Return what is seen, and whether that is the fault."""
    try:
        result = asyncio.run(ask(url))
    except Exception as error:
        if "MALFORMED_FUNCTION_CALL" in str(error):
            return repr(error)[:120], False
        raise
    return f"{result.stop_reason}, {result.message['content']}", result.stop_reason == "end_turn"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "the finish reason MALFORMED_FUNCTION_CALL, and no content")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
