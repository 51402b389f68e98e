"""A tool without a description raises KeyError for Claude.

`description` is optional in OpenAI's form of a tool, which aisuite takes for all providers, and in Anthropic's.
`convert_tool_spec` of the provider for Anthropic reads it by `function["description"]`, so that the request is
never sent.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-5-20250929","id":"msg_01Hc5uKzQwRt3Xb7VmPd9LyF","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":380,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello!"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":380,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}}

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


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = aisuite.Client({"anthropic": {"api_key": "key", "base_url": url, "max_retries": 0}})
    tool = {"type": "function", "function": {"name": "level", "parameters": {"type": "object", "properties": {}}}}
    try:
        chunks = client.chat.completions.create(
            "anthropic:claude-sonnet-4-5", [{"role": "user", "content": "Hi"}], tools=[tool], stream=True
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    except KeyError as error:
        return repr(error), True
    return f"text {text!r}", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a tool without a description, in a stream")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
