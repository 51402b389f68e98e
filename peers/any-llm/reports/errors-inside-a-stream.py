"""The type and the code of an error inside a stream do not decide its class.

With `unified_exceptions`, which is off by default, the text of an error inside a stream is compared with patterns;
its `type` and `code` are not. An account without credit (`insufficient_quota`, which OpenAI documents with HTTP
429, and also sends in a stream with the status 200, see https://github.com/vercel/ai/pull/16805) and a prompt that
is too long for llama.cpp (`exceed_context_size_error`, code 400) match no pattern, so that both are
`ProviderError`. The exception has both fields, as `error_type` and `code`.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import AnyLLM
from any_llm.exceptions import AnyLLMError

SENT = {
    "quota": b"""\
data: {"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}

""",
    "context": b"""\
data: {"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}

""",
}


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the error that its path names."""

    def do_POST(self):
        """Send it."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT[self.path.split("/")[1]])

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return the class of the exception."""
    library = AnyLLM.create("openai", api_key="key", api_base=url, unified_exceptions=True, max_retries=0)
    try:
        list(library.completion(model="gpt-5", messages=[{"role": "user", "content": "Hi"}], stream=True))
    except AnyLLMError as error:
        return type(error).__name__
    return "no error"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen = [call(f"http://127.0.0.1:{server.server_port}/{name}") for name in SENT]
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", ", ".join(seen), "| sent: insufficient_quota, and exceed_context_size_error with the code 400")
    return 1 if "ProviderError" in seen else 0


if __name__ == "__main__":
    sys.exit(main())
