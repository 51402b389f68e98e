"""A draft among Gemini's thoughts is one of the images of a streamed answer.

With `include_thoughts`, Gemini sends drafts of an image as parts that are marked with `thought`. `Gemini` does not
look at the mark of an image: in a stream, each draft comes as an image of the answer.

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import json
import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.google import Gemini

DRAFT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC"


def chunk(part, **about):
    """Return one event of the stream."""
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **about}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 1290, "totalTokenCount": 1299}
    said = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro-image-preview"}
    return f"data: {json.dumps(said)}\r\n\r\n"


SENT = (
    chunk({"inlineData": {"mimeType": "image/png", "data": DRAFT}, "thought": True})
    + chunk({"inlineData": {"mimeType": "image/png", "data": IMAGE}}, finishReason="STOP")
).encode()


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


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    options = {"http_options": {"base_url": url}}
    model = Gemini(id="gemini-3-pro-image-preview", api_key="key", include_thoughts=True, client_params=options)
    images = []
    for event in Agent(model=model).run("Draw a boat.", stream=True):
        image = getattr(event, "image", None)
        images += [image] if image is not None else []
    if not images:
        raise RuntimeError("no image came")
    return f"{len(images)} images of the answer", len(images) > 1


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a draft with thought: true, and an image")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
