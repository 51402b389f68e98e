"""The reasoning of Groq's plain answers is not in `reasoning_content`.

Groq sends the reasoning as `message.reasoning`. LiteLLM's documentation has it as `message.reasoning_content`
(https://docs.litellm.ai/docs/reasoning_content). In a plain answer it stays in `message.reasoning`, and `message.reasoning_content` is
missing.

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
{
  "id": "chatcmpl-0913b0f3-097a-4ae9-ae65-953cd7669942",
  "object": "chat.completion",
  "created": 1771434900,
  "model": "openai/gpt-oss-20b",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "reasoning": "Need the tide table for this harbour; there is a function that has it, so call that with the name.",
        "tool_calls": [
          {
            "id": "fc_d34e389e-921d-49bf-a82a-7d1b70fe0683",
            "type": "function",
            "function": {
              "name": "tide",
              "arguments": "{\\"port\\":\\"Saint-Malo\\"}"
            }
          }
        ]
      },
      "logprobs": null,
      "finish_reason": "tool_calls"
    }
  ],
  "usage": {
    "queue_time": 0.0423,
    "prompt_tokens": 140,
    "prompt_time": 0.0031,
    "completion_tokens": 44,
    "completion_time": 0.0874,
    "total_tokens": 184,
    "total_time": 0.0905,
    "completion_tokens_details": {
      "reasoning_tokens": 23
    }
  },
  "usage_breakdown": null,
  "system_fingerprint": "fp_5c1d0e7b2a",
  "x_groq": {
    "id": "req_01khrvv5w7fb3n2k6m8e0z9tdh",
    "seed": 99310
  },
  "service_tier": "on_demand"
}"""
HEADERS = {"content-type": "application/json"}
REQUEST = {"model": "groq/openai/gpt-oss-20b", "messages": [{"role": "user", "content": "How deep is the lake?"}]}


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
    message = json.loads(text)["choices"][0]["message"]
    fields = {name: message.get(name) for name in ("reasoning_content", "reasoning")}
    return f"{fields}", not fields["reasoning_content"]


CONFIG = """
model_list:
  - model_name: groq/*
    litellm_params: {model: groq/*, api_base: "http://127.0.0.1:UPSTREAM", api_key: "key"}
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
    print("seen:", seen, "| sent:", "message.reasoning with a text")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
