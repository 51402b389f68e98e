"""An error inside a stream of Groq's is raised as ValueError.

Groq's error object has a `code` that is a word. LiteLLM takes it for the HTTP status and fails to convert it.

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

PARAMETERS = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
SENT = b"""\
data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_01khrvw3a1ek9s5d7g2c8b4mxz","seed":31}}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":"The caller wants the","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":" tide. I shall call the functio","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":"n, though I am not s","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-7d9e8398-0a90-464f-a88c-6ceb236d74af","object":"chat.completion.chunk","created":1771434960,"model":"openai/gpt-oss-120b","system_fingerprint":"fp_5c1d0e7b2a","choices":[{"index":0,"delta":{"reasoning":"ure about its parameters.","channel":"analysis"},"logprobs":null,"finish_reason":null}]}

event: error
data: {"error":{"message":"Tool call validation failed: parameters for tool tide did not match schema","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{\\"name\\": \\"tide\\", \\"arguments\\": {\\"harbour\\": \\"Brest\\"}}","status_code":400}}

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
    try:
        list(
            litellm.completion(
                model="groq/openai/gpt-oss-120b",
                messages=[{"role": "user", "content": "When is the tide in Brest?"}],
                tools=[{"type": "function", "function": {"name": "tide", "parameters": PARAMETERS}}],
                api_base=url,
                api_key="key",
                stream=True,
            )
        )
    except ValueError as error:
        return repr(error), True
    except litellm.exceptions.APIError as error:
        return repr(error), False
    return "no error", True


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", 'an error event with the code "tool_use_failed"')
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
