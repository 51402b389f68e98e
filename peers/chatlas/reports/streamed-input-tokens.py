"""In streams, the input tokens of Claude's hosted tools are not counted.

`message_start` has the input tokens of the first request, `message_delta` those of all that Claude made for its tools. In a stream, chatlas takes the count of `message_start`.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatAnthropic, tool_web_search

SENT = b"""\
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_01fSmgPFSa4GtPHk1HxKhhLv","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":2183,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":3,"service_tier":"standard","inference_geo":"global"}}           }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_0182YHzEA0mmPJEn8k42uKnM","name":"web_search","input":{},"caller":{"type":"direct"}}     }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}           }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"query\\": \\"old lighthouse height\\"}"}       }

event: content_block_stop
data: {"type":"content_block_stop","index":0       }

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_0182YHzEA0mmPJEn8k42uKnM","content":[{"type":"web_search_result","title":"The tower \xe2\x80\x93 a history","url":"https://lighthouses.example.org/tower","encrypted_content":"ErUBCkgICxgCKkC263FxkB0KdBHtK94ijT8c5ySNT2duFKFObOaLTIw3LJTT/rt3+NB56URPv7hFxUtrvl3uK6VoUcpOxWUYAQ==","page_age":"March 3, 2024"},{"type":"web_search_result","title":"Coastal lights","url":"https://coast.example.com/lights?id=7","encrypted_content":"ErUBCkgICxgCKkCC6MSTUyCtMXLvPkIXxTCB6Cgn/gMaPfWNTg7doct14Gle+ABd6Gi0ck2dvf0UmmDjXLtSsSn92Tv7+MkYAQ==","page_age":null}],"caller":{"type":"direct"}} }

event: content_block_stop
data: {"type":"content_block_stop","index":1       }

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}      }

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Here is what I found: "}        }

event: content_block_stop
data: {"type":"content_block_stop","index":2    }

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"citations":[],"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"The lighthouse stands 54.9 metres tall and was first lit on 1 October 1789 ...","url":"https://lighthouses.example.org/tower","title":"The tower \xe2\x80\x93 a history","encrypted_index":"ErUBCkgICxgCKkDfSi13aCdGfC7KdjSSUngWmboSXn7zUdmN1LoIeVzdeBTrJQD3GTiYGAE="}}    }

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"Built of granite, 55 m high, in service since 1789.","url":"https://coast.example.com/lights?id=7","title":"Coastal lights","encrypted_index":"ErUBCkgICxgCKkAUbXNDjfQM3LiTT/A737zlWbb3ZZE29cePcK2XflAdTXrJQWGqI4maGAE="}} }

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"the granite tower is about 55 metres tall and has been lit since 1789"}             }

event: content_block_stop
data: {"type":"content_block_stop","index":3              }

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"text","text":""}           }

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":". "}            }

event: content_block_stop
data: {"type":"content_block_stop","index":4             }

event: content_block_start
data: {"type":"content_block_start","index":5,"content_block":{"citations":[],"type":"text","text":""}           }

event: content_block_delta
data: {"type":"content_block_delta","index":5,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"Automated in 1994, it has been open to visitors since 2003.","url":"https://lighthouses.example.org/tower","title":"The tower \xe2\x80\x93 a history","encrypted_index":"ErUBCkgICxgCKkD9jF7ibVU+DritcQ0pF3LWLbVYWqDRty4iN+SHpEs7SKqZb1jtnY9bGAE="}}          }

event: content_block_delta
data: {"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"Nobody has lived there since 1994."}           }

event: content_block_stop
data: {"type":"content_block_stop","index":5            }

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":9312,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":146,"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0}}    }

event: message_stop
data: {"type":"message_stop"   }

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
    chat = ChatAnthropic(model="claude-sonnet-4-6", api_key="key", kwargs={"base_url": url, "max_retries": 0})
    chat.register_tool(tool_web_search())
    for _ in chat.stream("Hi"):
        pass
    turn = chat.get_last_turn()
    return f"tokens (input, output, cached) {turn.tokens}", turn.tokens[0] + turn.tokens[2] < 9000


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "9312 input tokens in message_delta, 2183 in message_start")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
