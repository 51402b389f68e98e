"""A plain answer that the limit of tokens ends within a tool call has the finish reason `tool_call`.

The answer ends with `length` in the midst of a tool call. The finish reason of the response is `tool_call` all the same, because there
is a call, and the arguments, which are not there yet, are `{}`. So a program may run a tool with arguments that the model never wrote.
The contract of lm15 asks for this word whenever there is a call; its own assembly of streams keeps `length`.

Install dspy 3.4.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else
failed.
"""

import json
import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it loads no list of prices

import dspy
from dspy import lm15

ASKED = []
SENT = b"""\
{"id":"2d94e7b0-a8c1-4f53-86d2-b0f7195e3ca8","object":"chat.completion","created":1793181771,"model":"deepseek-flash","choices":[{"index":0,"message":{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"call_00_d7RkXw3PzTq9LmVb2CyS4816","type":"function","function":{"name":"file_note","arguments":""}}]},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":341,"completion_tokens":12,"total_tokens":353,"prompt_tokens_details":{"cached_tokens":256},"prompt_cache_hit_tokens":256,"prompt_cache_miss_tokens":85},"system_fingerprint":"5d20b7e91c4a83f6b0e27d19c85f3a64"}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(SENT)))
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    lm = dspy.LM("deepseek/deepseek-flash", engine="lm15", api_base=url, api_key="key", num_retries=0, cache=False)
    tool = lm15.FunctionTool(
        name="file_note", parameters={"type": "object", "properties": {"text": {"type": "string"}}}
    )
    request = lm15.Request(
        model="deepseek/deepseek-flash",
        messages=(lm15.Message.user("File my report."),),
        tools=(tool,),
        config=lm15.Config(max_tokens=12),
    )
    response = lm(request)
    inputs = [each.input for each in response.tool_calls]
    return f"finish reason {response.finish_reason!r}, arguments {inputs}", response.finish_reason != "length"


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "finish_reason length, arguments that have not begun")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
