"""OpenAIModel drops the citations of chat completions.

OpenAI's search models, such as `gpt-5-search-api`, answer in chat completions with `annotations`, a list of `url_citation`, plain and in the deltas of a stream. `OpenAIModel` does not read them: the message has a plain text, and no event has the pages. `OpenAIResponsesModel` makes a `citationsContent` of a `url_citation`.

Install strands-agents[openai] 1.62.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from strands import Agent
from strands.models.openai import OpenAIModel

PLAIN = b"""\
{"id":"chatcmpl-1","object":"chat.completion","created":1760000000,"model":"gpt-5-search-api","choices":[{"index":0,"message":{"role":"assistant","content":"Bees spend the winter as a colony. ([bees.example](https://bees.example/winter))","refusal":null,"annotations":[{"type":"url_citation","url_citation":{"start_index":35,"end_index":80,"title":"Bees in winter","url":"https://bees.example/winter"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":20,"total_tokens":29}}
"""
STREAM = b"""\
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-search-api","choices":[{"index":0,"delta":{"role":"assistant","content":"Bees spend the winter as a colony. ([bees.example](https://bees.example/winter))"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-search-api","choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"start_index":35,"end_index":80,"title":"Bees in winter","url":"https://bees.example/winter"}}]},"finish_reason":"stop"}]}

data: [DONE]

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        asked = self.rfile.read(int(self.headers.get("content-length", 0)))
        streams = b'"stream":true' in asked.replace(b": ", b":")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(STREAM if streams else PLAIN)

    def log_message(self, *args):
        """Say nothing."""


async def turn(url, stream):
    """Ask an agent; return the content of the message, and the events that have the title of the page."""
    model = OpenAIModel(
        client_args={"base_url": url + "/v1", "api_key": "key", "max_retries": 0},
        model_id="gpt-5-search-api",
        stream=stream,
    )
    agent, content, events = Agent(model=model, callback_handler=None), [], 0
    async for event in agent.stream_async("Hi"):
        events += "event" in event and "Bees in winter" in repr(event["event"])
        content = event["result"].message["content"] if "result" in event else content
    return content, events


def call(url):
    """Return what is seen, and whether that is the fault."""
    seen = {name: asyncio.run(turn(url, name == "stream")) for name in ("plain", "stream")}
    said = "; ".join(f"{name}: {content}, {events} events with the page" for name, (content, events) in seen.items())
    return said, not all(any("citationsContent" in block for block in content) for content, _ in seen.values())


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a url_citation of https://bees.example/winter")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
