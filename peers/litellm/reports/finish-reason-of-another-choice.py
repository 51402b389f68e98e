"""stream_chunk_builder takes the finish reason of another choice.

With `n=2` the first choice ends with `stop`, the second with `length`. `stream_chunk_builder` returns the text of the first choice with the finish reason of the second.

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
data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":1,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"wWEVjCeu"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"lCAxIt2meanO9"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":1,"delta":{"content":"Call him N"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"bMQYPcw"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":0,"delta":{"content":"Ash, or"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"0Fu8xVNtmZPd"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":0,"delta":{"content":" Popi\xc3\xb3\xc5\x82 i"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Zcgn0P"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":1,"delta":{"content":"imbus; he wi"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Hjr6LXju6Hh"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":1,"delta":{"content":"ll drift from sill to sill"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"WE7TA"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":0,"delta":{"content":"f she i"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"oX8DadlbBU"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":1,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null,"obfuscation":"etFd"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":0,"delta":{"content":"s Polish."},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"o0obPm0iV"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null,"obfuscation":"OpE"}

data: {"id":"chatcmpl-C42Gh0Ruc5e5GUp0naDVz4HDxiyNo","object":"chat.completion.chunk","created":1755078067,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_8a43428062","choices":[],"usage":{"prompt_tokens":15,"completion_tokens":23,"total_tokens":38,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"Dj2vYRF"}

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
    stream = litellm.completion(
        model="openai/gpt-4o-mini",
        messages=[{"role": "user", "content": "Hi"}],
        api_base=url,
        api_key="key",
        stream=True,
        n=2,
    )
    whole = litellm.stream_chunk_builder(list(stream))

    first = next(each for each in whole.choices if each.index == 0)
    return f"finish reason of choice 0: {first.finish_reason!r}", first.finish_reason != "stop"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "stop for choice 0, length for choice 1")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
