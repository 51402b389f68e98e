"""The input of a Gemini call without arguments is None.

Gemini may leave out `args` of a call without arguments: the API reference marks it as optional, and others had to allow for it (https://github.com/anomalyco/opencode/pull/43111). `GeminiModel` writes `json.dumps(None)`, so that `input` of the `toolUse` is None in place of an empty object, and a tool made by `@tool`, without parameters, is not run: `argument after ** must be a mapping, not NoneType`.

Install strands-agents[gemini] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent, tool
from strands.models.gemini import GeminiModel

SENT = b"""\
data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"now"}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3,"totalTokenCount":10},"modelVersion":"gemini-2.5-flash"}

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


RAN = []


@tool
def now() -> str:
    """Return the time."""
    RAN.append(True)
    return "noon"


async def ask(url):
    """Ask an agent that has the tool for one turn; return its messages."""
    model = GeminiModel(client_args={"api_key": "key", "http_options": {"base_url": url}}, model_id="gemini-2.5-flash")
    agent = Agent(model=model, tools=[now], callback_handler=None)
    await agent.invoke_async("What time is it?", limits={"turns": 1})
    return agent.messages


def call(url):
    """Return what is seen, and whether that is the fault."""
    _, turn, result = asyncio.run(ask(url))[:3]
    said = result["content"][0]["toolResult"]["content"][0]["text"]
    return f"the input {turn['content'][0]['toolUse']['input']}, the result {said!r}", not RAN


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a functionCall without args")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
