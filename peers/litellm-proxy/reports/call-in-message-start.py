"""A call in the content of `message_start` is lost, and the stream is an error.

When code that Claude runs calls a tool again, the stream can have nothing but `message_start`, with the call in its `content` and the
`stop_reason` beside it, and `message_stop`. In chat completions, the proxy reads neither and answers with the status 500.

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
data: {"type":"message_start","message":{"model":"claude-sonnet-5","id":"msg_011CduFJLmgPyCPS9dIJ0Qe6","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_01sBYucH9iIysFXqT6MMP1J4","name":"level","input":{"lock":"Volkerak"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01oazFJ29Xseo2n4xQNcqVAm"}}],"container":{"id":"container_011CdmIIxL1CT0l19YJcjI05","expires_at":"2026-10-14T10:02:13.154902Z"},"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0}}}  }

event: message_stop
data: {"type":"message_stop"      }

"""
HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
CALL = {"id": "toolu_01V4pD6U0D8fdWDixQGPBc54", "type": "function"}
MESSAGES = [
    {"role": "user", "content": "Which of the locks Brielse and Volkerak is higher today? Compare them in code."},
    {
        "role": "assistant",
        "content": [
            {
                "type": "server_tool_use",
                "id": "srvtoolu_01oazFJ29Xseo2n4xQNcqVAm",
                "name": "code_execution",
                "input": {"code": "print(await level({'lock': 'Brielse'}), await level({'lock': 'Volkerak'}))"},
            }
        ],
        "tool_calls": [{**CALL, "function": {"name": "level", "arguments": '{"lock":"Brielse"}'}}],
    },
    {"role": "tool", "tool_call_id": CALL["id"], "content": "3.12"},
]
TOOLS = [
    {"type": "code_execution_20250825", "name": "code_execution"},
    {
        "type": "function",
        "function": {
            "name": "level",
            "parameters": {"type": "object", "properties": {"lock": {"type": "string"}}, "required": ["lock"]},
        },
        "allowed_callers": ["code_execution_20250825"],
    },
]
REQUEST = {
    "model": "anthropic/claude-sonnet-5",
    "messages": MESSAGES,
    "tools": TOOLS,
    "container": "container_011CdmIIxL1CT0l19YJcjI05",
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
    return f"status {status}: {text[:160]}", status != 200


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
    print("seen:", seen, "| sent:", "a call of level in message_start, stop_reason tool_use")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
