"""The text of an answer of OpenAI that calls a tool does not go back.

A model may say something before it calls a tool: a message, and then a function call. `OpenAIResponses` sends the
call back with the result, but not the message: `_format_messages` has one branch for calls and another for text.
(This does not matter where `previous_response_id` stands for the answer.)

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
from agno.models.openai import OpenAIResponses

SAID = "I look the departures up first."
REQUESTS = []


def text(id, said):
    """Return a message of the model."""
    part = {"type": "output_text", "text": said, "annotations": []}
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part]}


CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "departures",
    "arguments": "{}",
    "status": "completed",
}
OUTPUTS = [[text("msg_1", SAID), CALL], [text("msg_2", "The ferry leaves at noon.")]]


class Provider(BaseHTTPRequestHandler):
    """Answer the first request with a text and a call, and the second with a text."""

    def do_POST(self):
        """Send the next answer."""
        REQUESTS.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        answer = {
            "id": f"resp_{len(REQUESTS)}",
            "object": "response",
            "created_at": 1790000000,
            "status": "completed",
            "model": "gpt-4.1",
            "output": OUTPUTS[min(len(REQUESTS), 2) - 1],
            "parallel_tool_calls": True,
            "tools": [],
            "tool_choice": "auto",
            "error": None,
            "incomplete_details": None,
            "usage": {
                "input_tokens": 9,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 7,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 16,
            },
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


def departures() -> str:
    """Return the departures of today."""
    return "12:00"


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    model = OpenAIResponses(id="gpt-4.1", api_key="key", base_url=url, max_retries=0)
    Agent(model=model, tools=[departures]).run("When does the ferry leave?")
    _, second = REQUESTS
    sent = [item.get("type") or item.get("role") for item in second["input"]]
    return f"the second request has the items {sent}", SAID not in json.dumps(second)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}/v1")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", f"the text {SAID!r} and a call of departures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
