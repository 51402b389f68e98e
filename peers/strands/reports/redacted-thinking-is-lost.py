"""AnthropicModel drops redacted thinking, so that it does not go back.

Claude sends a block `redacted_thinking` whole, in `content_block_start`. `AnthropicModel.format_chunk` takes nothing of that block, so that the message has no `redactedContent`. In a request, `AnthropicModel` makes a block `redacted_thinking` of `redactedContent`.

Install strands-agents[anthropic] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
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
data: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"ErUBCkgICxgCKkDUmd2i"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":12}}

event: message_stop
data: {"type":"message_stop"}

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
    model = AnthropicModel(
        client_args={"base_url": url, "api_key": "key", "max_retries": 0}, model_id="claude-sonnet-4-5", max_tokens=64
    )
    result = await Agent(model=model, callback_handler=None).invoke_async("Hi")
    return result.stop_reason, result.message, result.metrics.accumulated_usage


def call(url):
    """Return what is seen, and whether that is the fault."""
    reason, message, usage = asyncio.run(turn(url))
    return f"{reason}, {message['content']}, {usage}", "redactedContent" not in str(message)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a block redacted_thinking, and a text")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
