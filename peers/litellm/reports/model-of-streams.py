"""The chunks of a stream name the model that was asked for, not the one that answered.

OpenAI names the model that answered, such as gpt-4o-2024-08-06 for gpt-4o. The chunks of a stream have the name from the request as `model`. The name of the model that answered is in `_hidden_params["provider_response_model"]`.

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

SENT = b"""\
data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"rWKWXYOU"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"A parlia"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"WZtEVTDC3wuAr"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"men"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"SKImB19"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"t \xe2\x80\x93 the word i"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"UUgoziOcTYAP"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"s C. S. "},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"VozBi1"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"Lew"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"OrGv6QTaypN"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"is\xe2\x80\x99s, more or "},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"tqfGG"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{"content":"less."},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"InLSXuSwJZ"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null,"obfuscation":"aDtr"}

data: {"id":"chatcmpl-C5dCHCQalzXpqkJaqzMBiUIkt293F","object":"chat.completion.chunk","created":1755458349,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a2a69af70d","choices":[],"usage":{"prompt_tokens":14,"completion_tokens":18,"total_tokens":32,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"9xxiqKRoAfMpgq"}

data: [DONE]

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    chunks = list(
        litellm.completion(
            model="openai/gpt-4o",
            messages=[{"role": "user", "content": "Hi"}],
            api_base=url,
            api_key="key",
            stream=True,
        )
    )
    names = {chunk.model for chunk in chunks}
    return f"model {sorted(names)}", "gpt-4o-2024-08-06" not in names


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "gpt-4o-2024-08-06")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
