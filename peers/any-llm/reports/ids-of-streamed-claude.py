"""The chunks of one streamed answer of Claude have different ids.

any-llm makes the id of a chunk from `hash(str(chunk))`, so that the chunks of an answer have different ones, and
none is the id that Claude sent. In OpenAI's form, all chunks of an answer have one id. The model of each chunk is
the one that was asked for, not the one that `message_start` names.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import completion

ID, MODEL = "msg_0172f66UcebfPZmomm5N3W7x", "claude-haiku-4-5-20251001"
SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-haiku-4-5-20251001","id":"msg_0172f66UcebfPZmomm5N3W7x","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}          }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}            }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"}   }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ides rise and fall bec"}     }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ause the M"}              }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"oon\xe2\x80\x99s gravity pulls more strongly on the ne"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0               }

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":16}       }

event: message_stop
data: {"type":"message_stop"             }

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
    answer = completion(
        provider="anthropic",
        model="claude-haiku-4-5",
        messages=[{"role": "user", "content": "Hi"}],
        api_key="key",
        api_base=url,
        stream=True,
        max_tokens=16,
        client_args={"max_retries": 0},
    )

    chunks = list(answer)
    ids, models = [chunk.id for chunk in chunks], {chunk.model for chunk in chunks}
    said = f"{len(set(ids))} ids in {len(ids)} chunks, such as {ids[0]!r}, and the model {', '.join(models)}"
    return said, set(ids) != {ID} or models != {MODEL}


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "one id, in message_start")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
