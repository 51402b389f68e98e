"""A stream of audio ends with an error.

A stream of audio of OpenAI's has no `finish_reason` in any chunk; `[DONE]` ends it. The proxy sends an error (`Stream ended
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
data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"DsBj"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"content":"It is "},"finish_reason":null}],"usage":null,"obfuscation":"hcPUEXpu4"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"content":"pronounce"},"finish_reason":null}],"usage":null,"obfuscation":"uRFCN"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"content":"d so"},"finish_reason":null}],"usage":null,"obfuscation":"revRGExzP0kou"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"content":" \xf0\x9f\x91\x89 "},"finish_reason":null}],"usage":null,"obfuscation":"M0zINdAjZO5"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"id":"audio_2e73a76083780136864e7c124f2b36a2","transcript":"Gliwice, "}},"finish_reason":null}],"usage":null,"obfuscation":"7DovgL"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"AADiAaQDNgWLBpkHWQjGCOAIqAgiCFcHTwYWBbkDRgLJAFT/7/2p/I37ovrw+Xv5RvlQ+Z"}},"finish_reason":null}],"usage":null,"obfuscation":"C3t"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"glee-VEE-tseh."}},"finish_reason":null}],"usage":null,"obfuscation":"7oot"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"b5FfrG+qH7nPyu/c3+7f8DAQgC8gK5A1cEyQQMBR4FAAW2BEQErgP7AjQCXgGDAKz/3f4g/nr98fyI/EL8Ifwk/Er8kfz1"}},"finish_reason":null}],"usage":null,"obfuscation":"Jx5"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"/HL9Af6f/kT/6v+KACEBqQEeAnsCvgLmAvMC5AK7AnoCJQK/AU0B0gBUANj/Yf/z/pL+Qv4E/tr9xv3G/dv9Av47/oL+"}},"finish_reason":null}],"usage":null,"obfuscation":"U7RcFS0pKh"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"expires_at":1758366000}}}],"usage":null,"obfuscation":"64b"}

data: {"id":"chatcmpl-CHofvj7Cs06szigcEplEoD7FBPAtT","object":"chat.completion.chunk","created":1758362407,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[],"usage":{"prompt_tokens":15,"completion_tokens":33,"total_tokens":48,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0,"text_tokens":15,"image_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":21,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0,"text_tokens":12}},"obfuscation":"9Wy"}

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
