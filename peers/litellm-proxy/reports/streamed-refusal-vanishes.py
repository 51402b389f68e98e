"""A streamed refusal of OpenAI is lost.

OpenAI streams the text of a refusal in chunks whose delta has nothing but `refusal`. The proxy drops these chunks, so that the client
sees an answer without a text that ends with `stop`.

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
data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"2NpUCFx2An"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"I\xe2\x80\x99m so"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"AecrO"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"rry, but "},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"JZGR"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"I ca"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"ARr8m2NpLdA"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"n\xe2\x80\x99t help wi"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"A44PP9T5j"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"th pic"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"0vdrf4vCS"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"king that"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"VCTHdaYNnriN"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":" loc"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"LjQAqZ6VVqd"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"k. A locksm"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"UXPgjikGrWLe"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"ith ca"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"rNAManO6yaYY"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{"refusal":"n."},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"AbTgwTKeA"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null,"obfuscation":"XcpKdomTDA2l"}

data: {"id":"chatcmpl-CEEj7XzeEw1hd7fnkGofqVHhMAlCG","object":"chat.completion.chunk","created":1757509237,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4b2c91e07d","choices":[],"usage":{"prompt_tokens":71,"completion_tokens":18,"total_tokens":89,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"D5ypzGARoinRN"}

data: [DONE]

"""
HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
REQUEST = {
    "model": "openai/gpt-4o-2024-08-06",
    "messages": [{"role": "user", "content": "How deep is the lake?"}],
    "stream": True,
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
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    refusal = "".join(delta.get("refusal") or "" for delta in deltas)
    content = "".join(delta.get("content") or "" for delta in deltas)
    words = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice.get("finish_reason")]
    return f"refusal {refusal!r}, content {content!r}, finish reasons {words}", not refusal


CONFIG = """
model_list:
  - model_name: openai/*
    litellm_params: {model: openai/*, api_base: "http://127.0.0.1:UPSTREAM", api_key: "key"}
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
    print("seen:", seen, "| sent:", "a refusal, as delta.refusal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
