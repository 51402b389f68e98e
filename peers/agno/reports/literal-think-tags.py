"""Think tags that an answer of OpenAI writes about are cut out of it.

The answer explains think tags. `OpenAIChat` cuts off what stands before the first `</think>`. The text between the
tags becomes `reasoning_content`, although OpenAI's models do not write their reasoning into the text. The text
before `<think>` is lost.

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.openai import OpenAIChat

SENT = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1761226620,"model":"gpt-4.1-2025-0'
    b'4-14","choices":[{"index":0,"message":{"role":"assistant","refusal":null,"content":"Models'
    b' write `<think>` and `</think>` around their reasoning."},"logprobs":null,"finish_reason":'
    b'"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}'
)


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    answer = Agent(model=OpenAIChat(id="gpt-4.1", api_key="key", base_url=url, max_retries=0)).run("Hi")
    return (
        f"reasoning_content {answer.reasoning_content!r}, content {answer.content!r}",
        "Models write" not in answer.content,
    )


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "Models write `<think>` and `</think>` around their reasoning.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
