"""openai: a chunk with `usage: null` behind the usage makes `ChatCompletionStreamState` forget the usage.

With `moderation` in the request, OpenAI can send a chunk with the results behind the usage chunk.

https://github.com/openai/openai-python/pull/3901 is about this line: it keeps the usage that came before.

Needs openai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if something
else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

BODY = b"""data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"role":"assistant","content":"A leap second."},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":82,"total_tokens":100}}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[],"usage":null,"moderation":{"input":{"type":"moderation_results","model":"omni-moderation-latest","results":[]}}}

data: [DONE]

"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    state = ChatCompletionStreamState()
    for chunk in client.chat.completions.create(
        model="gpt-5",
        messages=[{"role": "user", "content": "Hi"}],
        moderation={"model": "omni-moderation-latest"},
        stream=True,
        stream_options={"include_usage": True},
    ):
        state.handle_chunk(chunk)
    usage = state.get_final_completion().usage
    return f"usage of the completion: {usage}", usage is None


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: 100 tokens in all; {said}")
sys.exit(1 if is_wrong else 0)
