"""A call that Claude makes to an MCP server is lost.

With Anthropic's MCP connector an answer has a block `mcp_tool_use` with the name and the input of the call, and a block
`mcp_tool_result`. In chat completions, the proxy's message does not have the call; the result is in its
`provider_specific_fields.tool_results`. If the message goes back, neither block is in the request.

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
{"model": "claude-sonnet-4-5", "id": "msg_01", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "I ask the server. "}, {"type": "mcp_tool_use", "id": "mcptoolu_01", "name": "level", "input": {"lock": "Volkerak"}, "server_name": "tides"}, {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_01", "is_error": false, "content": [{"type": "text", "text": "3.12"}]}, {"type": "text", "text": "It is 3.12 m."}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 340, "output_tokens": 17}}"""
HEADERS = {"content-type": "application/json"}
REQUEST = {
    "model": "anthropic/claude-sonnet-4-5",
    "messages": [{"role": "user", "content": "How high is the water?"}],
    "max_tokens": 64,
    "tools": [
        {
            "type": "mcp",
            "server_label": "tides",
            "server_url": "https://tides.example.org/mcp",
            "require_approval": "never",
        }
    ],
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
    follow_up = {"role": "user", "content": "And now?"}
    again({**REQUEST, "messages": [*REQUEST["messages"], message, follow_up]})
    kinds = [block["type"] for block in ASKED[-1]["messages"][1]["content"]]
    in_answer = "Volkerak" in json.dumps(message)
    return f"the call is in the answer: {in_answer}; sent back: {kinds}", "mcp_tool_use" not in kinds


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
    print("seen:", seen, "| sent:", "mcp_tool_use and mcp_tool_result")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
