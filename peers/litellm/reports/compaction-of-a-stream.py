"""The encrypted content of a compaction is lost in streams.

The `compaction_delta` of a stream has the summary and its `encrypted_content`. `stream_chunk_builder` keeps the summary alone, so that the next request cannot send the encrypted content back, which Anthropic asks for (`BetaCompactionBlock.encrypted_content`: to be round-tripped verbatim). A plain answer keeps both.

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-opus-4-6","id":"msg_011Cd6A4m8CP1h1mJxxJ7ZHq","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":60391,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":5,"service_tier":"standard","inference_geo":"global"}}        }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null,"encrypted_content":null}   }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"The user plans a circumnavigation of Zealand with a draught of 1.4 m. Agreed so far: start in Kors\xc3\xb8r, anticlockwise, no night legs. Open: where to wait for the bridge at Vordingborg.","encrypted_content":"EvRK8ES6MTrVZb0XOF8NUEY5KlEurPFu+qAviBwDHpo1xor+6SH7QMPoY+/tW/f7B+SNSM5xL6kwLWMiQQ=="}   }

event: content_block_stop
data: {"type":"content_block_stop","index":0      }

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}              }

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Wait at Vo"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"rdingborg Nordhavn"}        }

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":": the bridge opens on request, and"}       }

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" 1.4 m is no problem there."}    }

event: content_block_stop
data: {"type":"content_block_stop","index":1 }

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":638,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":46,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"iterations":[{"input_tokens":60391,"output_tokens":214,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"type":"compaction"},{"input_tokens":638,"output_tokens":46,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"type":"message"}]},"context_management":{"applied_edits":[]}        }

event: message_stop
data: {"type":"message_stop"}

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
    stream = litellm.completion(
        model="anthropic/claude-opus-4-6",
        messages=[{"role": "user", "content": "Hi"}],
        api_base=url,
        api_key="key",
        stream=True,
        max_tokens=64,
    )
    whole = litellm.stream_chunk_builder(list(stream))

    fields = whole.choices[0].message.provider_specific_fields or {}
    blocks = fields.get("compaction_blocks") or []
    kept = [block.get("encrypted_content") for block in blocks]
    return f"encrypted_content {kept}", not any(kept)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a compaction_delta with encrypted_content")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
