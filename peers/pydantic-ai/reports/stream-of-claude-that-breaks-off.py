"""A stream of Claude that ends without message_stop is a complete response.

The connection is closed in good order before `message_delta` and `message_stop`. Anthropic's documentation has both at the end of a stream (https://platform.claude.com/docs/en/build-with-claude/streaming). No error is raised. `stream.response` is in the state `complete`, with the finish reason None.

Install pydantic-ai-slim[anthropic,openai] 2.68.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from anthropic import AsyncAnthropic
from pydantic_ai.direct import model_request_stream_sync
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_01jKv38oKAnnpNRCJxgehif1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":24,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}               }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}   }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"}   }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"he ca"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"pital of Mongolia is Ula"}              }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"anbaatar ("}               }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\xd0\xa3\xd0\xbb\xd0\xb0\xd0\xb0\xd0\xbd\xd0\xb1\xd0\xb0\xd0\xb0\xd1\x82\xd0\xb0\xd1\x80)."}   }

event: content_block_stop
data: {"type":"content_block_stop","index":0  }

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
    client = AsyncAnthropic(base_url=url, api_key="key", max_retries=0)
    model = AnthropicModel("claude-sonnet-4-6", provider=AnthropicProvider(anthropic_client=client))
    with model_request_stream_sync(model, [ModelRequest.user_text_prompt("Hi")]) as stream:
        for _ in stream:
            pass
        response = stream.response
    return f"state {response.state!r}, finish reason {response.finish_reason!r}", response.state == "complete"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a stream without message_delta and message_stop")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
