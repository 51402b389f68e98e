"""The id of a streamed audio answer is replaced by another.

OpenAI sends the id of an audio answer with its first piece. `OpenAIChat` makes up an id for a later piece that has
data or a transcript and no id, and the fold of the stream keeps the last id. In the next turn, the made-up id is
sent as that of the answer (`audio: {id: ...}`).

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.openai import OpenAIChat

SENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"gp'
    b't-audio-2025-08-28","choices":[{"index":0,"delta":{"role":"assistant","content":null,"audio"'
    b':{"id":"audio_1","transcript":""}},"finish_reason":null}]}\n'
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"gp'
    b't-audio-2025-08-28","choices":[{"index":0,"delta":{"audio":{"transcript":"Hello."}},"finish_'
    b'reason":null}]}\n'
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"gp'
    b't-audio-2025-08-28","choices":[{"index":0,"delta":{"audio":{"data":"AAAA"}},"finish_reason":'
    b"null}]}\n"
    b"\n"
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1761226620,"model":"gp'
    b't-audio-2025-08-28","choices":[{"index":0,"delta":{"audio":{"expires_at":1790000000}},"finis'
    b'h_reason":null}]}\n'
    b"\n"
    b"data: [DONE]\n"
    b"\n"
)


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
    model = OpenAIChat(
        id="gpt-audio",
        modalities=["text", "audio"],
        audio={"voice": "alloy", "format": "pcm16"},
        api_key="key",
        base_url=url,
        max_retries=0,
    )
    answer = None
    for event in Agent(model=model).run("Hi", stream=True, yield_run_output=True):
        answer = event
    id = answer.messages[-1].audio_output.id
    return f"the id {id}", id != "audio_1"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "the id audio_1")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
