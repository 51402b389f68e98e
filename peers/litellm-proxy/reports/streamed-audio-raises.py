"""A stream of audio ends with an error.

OpenAI can end a stream of audio with `[DONE]`, without a `finish_reason` in a chunk. The proxy sends an error (`Stream ended
before a finish_reason was received`) after the audio.

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
data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio_e4aa3abe3e54a29da76a2a7d680c3914"}},"finish_reason":null}],"usage":null,"obfuscation":"4DomyV20"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"Es ist k"}},"finish_reason":null}],"usage":null,"obfuscation":"D5zLTMEjjLswW"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"AADbA4MH0gqpDewPhRFoEowS8xGmELUONAxACfgFfwL5/or7VPh49RHzNvH472Lvdu8z8I3xdPPU9ZL4kfux/tIB1ASaBwYKAwx+DWoOwA5+DqoNTwx9CkgI"}},"finish_reason":null}],"usage":null,"obfuscation":"8BLMPBX"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"urz n"}},"finish_reason":null}],"usage":null,"obfuscation":"IYUSLNP7NsbH"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"yQUaA1cAnv0J+7L4sPYW9fLz"}},"finish_reason":null}],"usage":null,"obfuscation":"v0YMfe"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"T/Mv85LzcfTB9XP3c/ms+wX+ZgC3At8EywZoCKYJfAriCtgKYAqBCUYIvwb9BBIDFAEX/zD9cvvt+a/4xPcz9//2J/ep93z4lfno+mX8+/2a/zABrwIGBCkFDwawBgcHFAfZBlkGngWwBJsDbAIvAfL/w/6s/bj88Pta+/r60vrg+iP7"}},"finish_reason":null}],"usage":null,"obfuscation":"p9pLrGRfnXI"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"ach zw\xc3\xb6lf."}},"finish_reason":null}],"usage":null,"obfuscation":"anYH5"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"lPst/Ob8tf2R/m//RwAQAcIBVwLLAhoDQwNHAykD6wKTAicCrQEsAakALAC5/1b/Bf/J/qL+kf6U/qn+y/74/iz/Yf+U/8H/5f///wsADAA="}},"finish_reason":null}],"usage":null,"obfuscation":"yFcmtmc6cU"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"expires_at":1757941232}}}],"usage":null,"obfuscation":"2Pz9"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":41,"total_tokens":59,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0,"text_tokens":18,"image_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":30,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0,"text_tokens":11}},"obfuscation":"R9Ofjz86n"}

data: [DONE]

"""
HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
REQUEST = {
    "model": "openai/gpt-4o-audio-preview",
    "messages": [{"role": "user", "content": "How deep is the lake?"}],
    "modalities": ["text", "audio"],
    "audio": {"voice": "verse", "format": "pcm16"},
    "stream": True,
    "stream_options": {"include_usage": True},
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
    return f"error {error}", error is not None


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
    print("seen:", seen, "| sent:", "a whole answer with audio, then [DONE]")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
