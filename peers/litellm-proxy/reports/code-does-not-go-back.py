"""The code that Claude ran does not go back with the result of the tool that it called.

Claude runs code, which calls a tool of the client: the answer has a `server_tool_use` block of `code_execution` and a `tool_use` block
whose `caller` is that code. The message goes back with the result of the tool, and the proxy leaves out the `server_tool_use` block,
which has no result yet. (LiteLLM leaves out a block whose result is lost, because Anthropic refuses it:
https://github.com/BerriAI/litellm/pull/30486. Here the result is still to come.)

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

ASKED = []
SENT = b"""\
{"model":"claude-sonnet-5","id":"msg_011CdZg2MK6vlPQMca04EDEn","type":"message","role":"assistant","content":[{"type":"text","text":"I\xe2\x80\x99ll compare the two levels in code."},{"type":"server_tool_use","id":"srvtoolu_01oazFJ29Xseo2n4xQNcqVAm","name":"code_execution","input":{"code":"levels = {}\\nfor lock in ['Brielse', 'Volkerak']:\\n    levels[lock] = await level({'lock': lock})\\nprint(max(levels, key=levels.get))\\n"},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_01V4pD6U0D8fdWDixQGPBc54","name":"level","input":{"lock":"Brielse"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01oazFJ29Xseo2n4xQNcqVAm"}}],"container":{"id":"container_011CdmIIxL1CT0l19YJcjI05","expires_at":"2026-10-14T10:02:11.870215Z"},"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":3402,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":176,"service_tier":"standard","inference_geo":"global","server_tool_use":{"web_search_requests":0,"web_fetch_requests":0}}}"""
HEADERS = {"content-type": "application/json"}
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
    "messages": [{"role": "user", "content": "Which of the locks Brielse and Volkerak is higher today?"}],
    "max_tokens": 1024,
    "tools": TOOLS,
}


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def look(again):
    """Return what is seen, and whether that is the fault."""
    message = json.loads(again(REQUEST)[2])["choices"][0]["message"]
    call = next(each for each in message["tool_calls"] if each["function"]["name"] == "level")
    result = {"role": "tool", "tool_call_id": call["id"], "content": "3.12"}
    container = message["provider_specific_fields"]["container"]["id"]  # Anthropic refuses the next turn without it
    again({**REQUEST, "container": container, "messages": [*REQUEST["messages"], message, result]})
    kinds = [block["type"] for block in ASKED[-1]["messages"][1]["content"]]
    return f"sent back: {kinds}", "server_tool_use" not in kinds


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
            seen, wrong = look(lambda body: ask(port, "/v1/chat/completions", body))
        except Exception:
            traceback.print_exc()
            return 2
        finally:
            proxy.kill()
            proxy.wait()
    print("seen:", seen, "| sent:", "server_tool_use of code_execution, and tool_use of level")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
