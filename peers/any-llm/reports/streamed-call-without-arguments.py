"""any-llm-sdk 1.40.2: a streamed call of Claude without arguments cannot go back with the result of its tool.

Exit code 1 while it cannot, 0 when it can, 2 if something else went wrong.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import completion

CALL = {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}
USAGE = {"input_tokens": 9, "output_tokens": 4}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
EVENTS = (
    {"type": "message_start", "message": {**MESSAGE, "stop_reason": None, "stop_sequence": None, "usage": USAGE}},
    {"type": "content_block_start", "index": 0, "content_block": CALL},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": USAGE},
    {"type": "message_stop"},
)
SENT = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in EVENTS).encode()
ASKED = []


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the stream above."""

    def do_POST(self):
        """Send it."""
        ASKED.append(self.rfile.read(int(self.headers.get("content-length", 0))))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def main():
    """Return the exit code."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    function = {"name": "now", "description": "the time", "parameters": {"type": "object", "properties": {}}}
    asked = {
        **{"model": "claude-sonnet-4-5", "provider": "anthropic", "stream": True, "max_tokens": 99},
        **{"api_base": f"http://127.0.0.1:{server.server_port}", "api_key": "key"},
        "tools": [{"type": "function", "function": function}],
    }
    messages = [{"role": "user", "content": "What time is it?"}]
    calls = [call for chunk in completion(messages=messages, **asked) for call in made(chunk)]
    arguments = "".join(call.function.arguments or "" for call in calls)
    called = {"id": "toolu_1", "type": "function", "function": {"name": "now", "arguments": arguments}}
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "toolu_1", "content": "noon"},
    ]
    try:
        list(completion(messages=messages, **asked))
    except Exception as error:
        print(f"sent a call with the input {{}}; seen: arguments {arguments!r}; with the result: {error!r}")
        if len(ASKED) > 1:
            raise
        return 1
    print(f"seen: arguments {arguments!r}; the result was sent")
    return 0


def made(chunk):
    """Return the pieces of calls in a chunk."""
    return chunk.choices[0].delta.tool_calls or [] if chunk.choices else []


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
