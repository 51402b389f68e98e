"""langchain-openai and langchain-anthropic: the id of a streamed answer is not in the message.

Without a stream it is in `response_metadata`. In a stream the message has an id of LangChain's own. A stream of audio
that ends without a finish reason names no model either.

Needs langchain-anthropic and langchain-openai. Exits with 1 while the fault is there, with 0 when it is mended, with 2
if something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

CLAUDE = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":610,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Green."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":610,"output_tokens":66}}

event: message_stop
data: {"type":"message_stop"}

"""
CHAT = b"""data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"role":"assistant","content":"Green."},"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"""
AUDIO = b"""data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1784810467,"model":"gpt-4o-audio-preview-2025-06-03","choices":[{"index":0,"delta":{"role":"assistant","content":null,"audio":{"id":"audio_1","transcript":"Hi."}},"finish_reason":null}]}

data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1784810467,"model":"gpt-4o-audio-preview-2025-06-03","choices":[{"index":0,"delta":{"audio":{"data":"AADiAaQDNgWL"}},"finish_reason":null}]}

data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1784810467,"model":"gpt-4o-audio-preview-2025-06-03","choices":[{"index":0,"delta":{"audio":{"expires_at":1784814067}},"finish_reason":null}]}

data: [DONE]

"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(CLAUDE if "messages" in self.path else AUDIO if b"modalities" in asked else CHAT)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    made = {"base_url": url, "api_key": "none", "max_retries": 0}
    audio = {"modalities": ["text", "audio"], "audio": {"voice": "ash", "format": "pcm16"}}
    models = {
        ("msg_1",): ChatAnthropic(model="claude-sonnet-5", **made),
        ("chatcmpl-1",): ChatOpenAI(model="gpt-5", **made),
        ("chatcmpl-2", "gpt-4o-audio-preview-2025-06-03"): ChatOpenAI(
            model="gpt-4o-audio-preview", model_kwargs=audio, **made
        ),
    }
    said, lost = [], []
    for sent, model in models.items():
        whole = None
        for chunk in model.stream("Hi"):
            whole = chunk if whole is None else whole + chunk
        said.append(f"id {whole.id}, response_metadata {whole.response_metadata}")
        lost += [each for each in sent if each not in repr(whole)]
    return f"lost: {', '.join(lost)}\n" + "\n".join(said), bool(lost)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: the ids msg_1, chatcmpl-1 and chatcmpl-2, and the model of each; {said}")
sys.exit(1 if is_wrong else 0)
