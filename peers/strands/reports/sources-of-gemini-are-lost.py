"""The sources of Gemini's search are lost.

`gemini_tools` takes Google's search, and Gemini then says in `groundingMetadata` which pages its answer rests on. `GeminiModel` does not read it: the message has a plain text, and no event has the pages. A message of Strands has a block for citations, `citationsContent`.

Install strands-agents[gemini] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.genai import types
from strands import Agent
from strands.models.gemini import GeminiModel

SENT = b"""\
data: {"candidates":[{"content":{"parts":[{"text":"Bees spend the winter as a colony."}],"role":"model"},"finishReason":"STOP","index":0,"groundingMetadata":{"webSearchQueries":["bees in winter"],"groundingChunks":[{"web":{"uri":"https://bees.example/winter","title":"bees.example"}}],"groundingSupports":[{"segment":{"startIndex":0,"endIndex":34,"text":"Bees spend the winter as a colony."},"groundingChunkIndices":[0]}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":8,"totalTokenCount":17},"modelVersion":"gemini-2.5-flash","responseId":"kG3haMXnK8"}

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
    """Ask an agent; return its events, the last of which has the result."""
    model = GeminiModel(
        client_args={"api_key": "key", "http_options": {"base_url": url}},
        model_id="gemini-2.5-flash",
        gemini_tools=[types.Tool(google_search=types.GoogleSearch())],
    )
    return [event async for event in Agent(model=model, callback_handler=None).stream_async("How do bees winter?")]


def call(url):
    """Return what is seen, and whether that is the fault."""
    events = asyncio.run(ask(url))
    message = events[-1]["result"].message
    if "spend the winter" not in str(message):
        raise RuntimeError(f"the text is missing: {message}")
    found = [event for event in events if "https://bees.example/winter" in str(event)]
    return f"{message['content']}, and {len(found)} events with the page", not found


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "groundingMetadata with https://bees.example/winter")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
