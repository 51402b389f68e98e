"""An error inside a stream of Groq's comes out as an error of `int()`.

Groq ends a stream with an error event whose code is a word. The error that the proxy sends has neither this code nor its message, but
those of a ValueError within LiteLLM, with the code 500.

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
data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_01khrvw3a1ek9s5d7g2c8b4mxz","seed":31}}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":"The caller wants the","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":" tide. I shall call the functio","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":"n, though I am not s","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":"ure about its parameters.","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

event: error
data: {"error":{"message":"Tool call validation failed: parameters for tool tide did not match schema","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{\\"name\\": \\"tide\\", \\"arguments\\": {\\"harbour\\": \\"Brest\\"}}","status_code":400}}

"""
HEADERS = {"content-type": "text/event-stream"}
REQUEST = {
    "model": "groq/openai/gpt-oss-120b",
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
    error = next((chunk["error"] for chunk in chunks if chunk.get("error")), None)
    return f"error {error}", "tool_use_failed" not in str((error or {}).get("code"))


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
    print("seen:", seen, "| sent:", 'an error event with the code "tool_use_failed"')
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
