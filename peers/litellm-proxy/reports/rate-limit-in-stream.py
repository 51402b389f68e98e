"""A rate limit that Claude reports inside a stream is an internal server error.

The event `error` has the type `rate_limit_error`. In chat completions, the error that the proxy sends has the type
`internal_server_error` and the code 500.

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
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_01xloHp5GtfS16G77zkKUZJE","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":16,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}              }

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}   }

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"From Sj\xc3\xb6torp on: "}        }

event: error
data: {"type":"error","error":{"details":null,"type":"rate_limit_error","message":"Number of output tokens has exceeded your per-minute rate limit"},"request_id":"req_011CdVwbnZ4mKq7RtY2sHc9e"}

"""
HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
REQUEST = {
    "model": "anthropic/claude-sonnet-4-6",
    "messages": [{"role": "user", "content": "How deep is the lake?"}],
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
    error = next((chunk["error"] for chunk in chunks if chunk.get("error")), None)
    said = f"{(error or {}).get('type')} {(error or {}).get('code')}"
    return f"error {error}", "rate_limit" not in said and "429" not in said


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
    print("seen:", seen, "| sent:", "an error event of the type rate_limit_error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
