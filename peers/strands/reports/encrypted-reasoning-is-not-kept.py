"""The encrypted reasoning of OpenAI's Responses API does not go back with the result of a tool.

`params` asks for `reasoning.encrypted_content`, and the answer has it, in an item before the call. The message has no place for it, so that the next request has the call and its result alone. With `stateful=True` OpenAI keeps the conversation, and nothing has to go back.

Install strands-agents[openai] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent, tool
from strands.models.openai_responses import OpenAIResponsesModel

ASKED = []
REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAABo"}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "level",
    "arguments": "{}",
}
TEXT = {"type": "output_text", "text": "3 m", "annotations": []}
MESSAGE = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [TEXT]}
COUNTS = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 4}
COUNTS |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 13}


def events(output):
    """Yield the events of a streamed response."""
    response = {"id": "resp_1", "object": "response", "created_at": 1784810467, "model": "gpt-5", "tools": []}
    response |= {"tool_choice": "auto", "parallel_tool_calls": True}
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    for index, item in enumerate(output):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        if item is CALL:
            done = {"item_id": "fc_1", "output_index": index, "name": "level", "arguments": "{}"}
            yield {"type": "response.function_call_arguments.done", **done}
        if item is MESSAGE:
            delta = {"item_id": "msg_1", "output_index": index, "content_index": 0, "delta": "3 m", "logprobs": []}
            yield {"type": "response.output_text.delta", **delta}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {
        "type": "response.completed",
        "response": {**response, "status": "completed", "output": output, "usage": COUNTS},
    }


class Provider(BaseHTTPRequestHandler):
    """Answer the first request with a call, the second one with a text."""

    def do_POST(self):
        """Send the events."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for number, event in enumerate(events([REASONING, CALL] if len(ASKED) == 1 else [MESSAGE])):
            data = json.dumps({**event, "sequence_number": number})
            self.wfile.write(f"event: {event['type']}\ndata: {data}\n\n".encode())

    def log_message(self, *args):
        """Say nothing."""


@tool
def level() -> str:
    """Return the level of the water."""
    return "3"


def call(url):
    """Ask an agent that has a tool; return what is seen, and whether that is the fault."""
    model = OpenAIResponsesModel(
        client_args={"base_url": url, "api_key": "key", "max_retries": 0},
        model_id="gpt-5",
        params={"include": ["reasoning.encrypted_content"]},
    )
    Agent(model=model, tools=[level], callback_handler=None)("How high is the water?")
    sent = ASKED[1]["input"]
    return f"items of {[each.get('type') or each.get('role') for each in sent]}", "gAAAAABo" not in json.dumps(sent)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("the next request has:", seen, "| sent: reasoning with encrypted_content, then a call")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
