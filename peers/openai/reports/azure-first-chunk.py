"""openai: `ChatCompletionStreamState` keeps the empty id and model of Azure's first chunk.

The first chunk has the results of the filter, an empty id and an empty model; the others have the id and the model.

Needs openai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if something
else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

BODY = b"""data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi."},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

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
        model="gpt-5", messages=[{"role": "user", "content": "Hi"}], stream=True
    ):
        state.handle_chunk(chunk)
    whole = state.get_final_completion()
    return f"the completion has id {whole.id!r}, model {whole.model!r}", not whole.id or not whole.model


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: id 'chatcmpl-1', model 'gpt-5-2025-08-07'; {said}")
sys.exit(1 if is_wrong else 0)
