"""A stream of OpenAI that ends in its middle is a turn that ended.

If the body ends without a finish reason, and without `[DONE]`, `OpenAIModel` itself sends `messageStop` with `end_turn`. The text, which was streamed, is not in the message, because the block of text is closed only at the finish reason. `OpenAIResponsesModel` makes up a finish reason in the same way if the stream ends before `response.completed`. Issue 4334 is about streams in which no `messageStop` comes; here the models make one up.

Install strands-agents[openai] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent
from strands.models.openai import OpenAIModel

SENT = b"""\
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":"Half of the "},"logprobs":null,"finish_reason":null}],"usage":null}

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
    model = OpenAIModel(client_args={"base_url": url + "/v1", "api_key": "key", "max_retries": 0}, model_id="gpt-5")
    result = await Agent(model=model, callback_handler=None).invoke_async("Hi")
    return result.stop_reason, result.message, result.metrics.accumulated_usage


def call(url):
    """Return what is seen, and whether that is the fault."""
    try:
        reason, message, usage = asyncio.run(turn(url))
    except Exception as error:
        if type(error).__name__ in ("APIError", "APIConnectionError", "RuntimeError"):
            return repr(error)[:120], False
        raise
    return f"{reason}, {message['content']}, {usage}", reason == "end_turn"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "half a stream, without a finish reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
