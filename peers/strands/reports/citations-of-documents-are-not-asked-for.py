"""AnthropicModel does not send `citations` of a document.

A document of a message may have `citations: {"enabled": True}` (`DocumentContent`). `AnthropicModel` leaves the switch out of its request, so that Claude does not cite the document.

Install strands-agents[anthropic] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent
from strands.models.anthropic import AnthropicModel

SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Green."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}

event: message_stop
data: {"type":"message_stop"}

"""
REQUESTS = []


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        REQUESTS.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def ask(url):
    """Ask an agent about a document that is to be cited."""
    model = AnthropicModel(
        client_args={"base_url": url, "api_key": "key", "max_retries": 0},
        model_id="claude-sonnet-4-5",
        max_tokens=1024,
    )
    source = {"bytes": b"The grass is green."}
    document = {"format": "txt", "name": "Colors", "source": source, "citations": {"enabled": True}}
    question = [{"document": document}, {"text": "What color is the grass?"}]
    return await Agent(model=model, callback_handler=None).invoke_async(question)


def call(url):
    """Return what is seen, and whether that is the fault."""
    asyncio.run(ask(url))
    (document,) = [part for part in REQUESTS[0]["messages"][0]["content"] if part["type"] == "document"]
    return f"the request has {document}", document.get("citations") != {"enabled": True}


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a document with citations enabled")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
