"""A line separator within a text breaks a stream of Claude.

The provider reads lines by `httpx.Response.aiter_lines`, which splits at U+2028, U+2029 and U+0085 too. JSON may have them as they are (Anthropic sends other characters beyond ASCII unescaped, too), and lines of server-sent events end with CR or LF only. So the frame is cut, and json's JSONDecodeError escapes.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.anthropic import Anthropic

MODEL = "claude-sonnet-4-6"
SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_01NHGHrXGvKRSWcPApnA77jq","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":21,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}   }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}               }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Erste Ze"}          }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ile\xe2\x80\xa8zw"}        }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"eite Zeile\xe2\x80\xa9Abs"}               }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"atz\xc2\x85"}      }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ende: gr\xc3\xb6\xc3\x9fer als vorher."}             }

event: content_block_stop
data: {"type":"content_block_stop","index":0 }

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":21,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":26}         }

event: message_stop
data: {"type":"message_stop"       }

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


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = Anthropic(api_key="key", api_url=url + "/v1/messages", default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    try:
        last = [event async for event in service.stream(messages=messages)][-1]
    except ValueError as error:
        return f"{type(error).__name__}: {error}", True
    return repr(last.response.text), False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a text with U+2028")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
