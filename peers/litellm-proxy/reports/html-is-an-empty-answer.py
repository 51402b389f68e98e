"""A page of HTML in the place of a stream is an empty answer that ends with `stop`.

A gateway or a captive portal answers the proxy's request for a stream with the status 200 and a page of HTML. In chat completions, the
proxy finds no event in it and sends a chunk with the `finish_reason` `stop`, so that it looks like a whole answer without text.

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
<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>"""
HEADERS = {"content-type": "text/html"}
REQUEST = {"model": "openai/gpt-4o", "messages": [{"role": "user", "content": "How deep is the lake?"}], "stream": True}


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
    words = [
        choice["finish_reason"]
        for chunk in chunks
        for choice in chunk.get("choices", ())
        if choice.get("finish_reason")
    ]
    return f"status {status}, finish reasons {words}", words == ["stop"]


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
    print("seen:", seen, "| sent:", "a page of HTML with status 200")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
