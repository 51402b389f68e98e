"""A call of a custom tool in a stream raises an error of pydantic's.

OpenAI streams the call of a custom tool as a tool call of the type `custom`. any-llm's type for chunks knows `function` alone and raises a ValidationError. The same call is read in a plain answer.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import completion

SENT = b"""\
data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_zXdyI7LFwkCjEasCNh9B3w8d","type":"custom","custom":{"name":"turtle","input":""}}],"refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"LYRbJDa6THN6"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"MOVE "}}]},"finish_reason":null}],"usage":null,"obfuscation":"Prb2ibQDXw"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"turtle 40\\nT"}}]},"finish_reason":null}],"usage":null,"obfuscation":"Lcyomvw7jPS3"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"URN"}}]},"finish_reason":null}],"usage":null,"obfuscation":"MozSaTU9uCYnu"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":" left 90"}}]},"finish_reason":null}],"usage":null,"obfuscation":"3Hppqp8I"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":" # \xc2\xab\xc3\xa0"}}]},"finish_reason":null}],"usage":null,"obfuscation":"t9NKpzkflmXu"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":" gauche\xc2\xbb\\nMO"}}]},"finish_reason":null}],"usage":null,"obfuscation":"PnsVP7"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"VE "}}]},"finish_reason":null}],"usage":null,"obfuscation":"1gPF0MRzFuof"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"turtle 1"}}]},"finish_reason":null}],"usage":null,"obfuscation":"GTMq7wGYATM"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"2.5"}}]},"finish_reason":null}],"usage":null,"obfuscation":"LRALs7r5TEZke"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null,"obfuscation":"HCZ7QaYi3kL"}

data: {"id":"chatcmpl-CJcHM8RgOS7WGyLOYaI7N0GHjnKZ9","object":"chat.completion.chunk","created":1758791412,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":96,"completion_tokens":221,"total_tokens":317,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":192,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"NgmkP4"}

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
    answer = completion(
        provider="openai",
        model="gpt-5-mini",
        messages=[{"role": "user", "content": "Hi"}],
        api_key="key",
        api_base=url,
        stream=True,
        client_args={"max_retries": 0},
    )

    try:
        chunks = list(answer)
    except Exception as error:
        if "literal_error" not in str(error):
            raise
        return f"{type(error).__name__}: {str(error)[:90]!r}", True
    return f"{len(chunks)} chunks", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a tool call of the type custom")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
