"""A stream in which Claude runs a tool itself has the finish reason `tool_calls`.

The stream has a `server_tool_use` block, its result, and text, and ends with `end_turn`. The finish reason of the proxy's stream is
`tool_calls`, although no call is left to run. For the same answer without a stream it is `stop`.

Install litellm[proxy] 1.109.1, then run this file. It starts the proxy with a server on the loopback interface as its
provider. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

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
HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
REQUEST = {
    "model": "anthropic/claude-sonnet-4-6",
    "messages": [{"role": "user", "content": "How tall is the old lighthouse?"}],
    "tools": [{"type": "web_search_20250305", "name": "web_search"}],
    "stream": True,
    "max_tokens": 1024,
}


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def look(status, headers, text):
    """Return what is seen, and whether that is the fault."""
    chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    words = [choice.get("finish_reason") for chunk in chunks for choice in chunk["choices"]]
    return f"finish reasons {[word for word in words if word]}", "tool_calls" in words


CONFIG = """
model_list:
  - model_name: anthropic/*
    litellm_params: {model: anthropic/*, api_base: "http://127.0.0.1:UPSTREAM", api_key: "key"}
router_settings: {num_retries: 0, disable_cooldowns: true}
litellm_settings: {num_retries: 0, disable_hf_tokenizer_download: true}
"""


def ask(port, path, body=None):
    """Return status, headers and text of an answer."""
    headers = {"content-type": "application/json", "authorization": "Bearer key"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
    response = connection.getresponse()
    return response.status, response.headers, response.read().decode()


def main():
    """Start the provider and the proxy, ask it, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        config.write_text(CONFIG.replace("UPSTREAM", str(server.server_port)))
        # So that it asks nobody else.
        own = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True"}
        proxy = subprocess.Popen(  # noqa: S603
            [Path(sys.executable).parent / "litellm", "--config", config, "--host", "127.0.0.1", "--port", str(port)],
            env={**os.environ, **own, "LITELLM_MASTER_KEY": "key"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            until = time.monotonic() + 300
            while True:
                try:
                    ask(port, "/health/liveliness")
                    break
                except OSError:
                    if time.monotonic() > until or proxy.poll() is not None:
                        raise
                    time.sleep(0.2)
            seen, wrong = look(*ask(port, "/v1/chat/completions", REQUEST))
        except Exception:
            traceback.print_exc()
            return 2
        finally:
            proxy.kill()
            proxy.wait()
    print("seen:", seen, "| sent:", "a server_tool_use block of web_search, stop_reason end_turn")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
