"""A streamed refusal of OpenAI is lost.

OpenAI streams the text of a refusal in chunks whose delta has nothing but `refusal`. LiteLLM drops these chunks, so that the caller sees an answer without a text.

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
        model="openai/gpt-4o-2024-08-06",
        messages=[{"role": "user", "content": "Hi"}],
        api_base=url,
        api_key="key",
        stream=True,
    )
    chunks = list(stream)
    said = "".join(getattr(chunk.choices[0].delta, "refusal", None) or "" for chunk in chunks if chunk.choices)
    message = litellm.stream_chunk_builder(chunks).choices[0].message
    refusal = getattr(message, "refusal", None)
    seen = f"refusal of the chunks {said!r}; the whole: content {message.content!r}, refusal {refusal!r}"
    return seen, not refusal and "sorry" not in repr(chunks)


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "I’m sorry, but I can’t help with picking that lock. …, as delta.refusal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
