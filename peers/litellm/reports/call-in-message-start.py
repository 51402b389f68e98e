"""A call in the content of message_start is lost, and the stream raises an error.

When code that Claude runs calls a tool again, the stream can have nothing but `message_start`, with the call in its `content` and the `stop_reason` beside it, and `message_stop`. LiteLLM reads neither and raises `Stream ended before a finish_reason was received`. A recording of such a stream is among the fixtures of Vercel's SDK: https://github.com/vercel/ai/blob/main/packages/anthropic/src/__fixtures__/anthropic-programmatic-tool-calling.1.chunks.txt

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
event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-5","id":"msg_011CduFJLmgPyCPS9dIJ0Qe6","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_01sBYucH9iIysFXqT6MMP1J4","name":"level","input":{"lock":"Volkerak"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01oazFJ29Xseo2n4xQNcqVAm"}}],"container":{"id":"container_011CdmIIxL1CT0l19YJcjI05","expires_at":"2026-10-14T10:02:13.154902Z"},"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0}}}  }

event: message_stop
data: {"type":"message_stop"      }

"""

CALL = {"id": "toolu_01V4pD6U0D8fdWDixQGPBc54", "type": "function"}
MESSAGES = [
    {"role": "user", "content": "Which of the locks Brielse and Volkerak is higher today? Compare them in code."},
    {
        "role": "assistant",
        "content": [
            {
                "type": "server_tool_use",
                "id": "srvtoolu_01oazFJ29Xseo2n4xQNcqVAm",
                "name": "code_execution",
                "input": {"code": "print(await level({'lock': 'Brielse'}), await level({'lock': 'Volkerak'}))"},
            }
        ],
        "tool_calls": [{**CALL, "function": {"name": "level", "arguments": '{"lock":"Brielse"}'}}],
    },
    {"role": "tool", "tool_call_id": CALL["id"], "content": "3.12"},
]
TOOLS = [
    {"type": "code_execution_20250825", "name": "code_execution"},
    {
        "type": "function",
        "function": {
            "name": "level",
            "parameters": {"type": "object", "properties": {"lock": {"type": "string"}}, "required": ["lock"]},
        },
        "allowed_callers": ["code_execution_20250825"],
    },
]


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
        chunks = list(
            litellm.completion(
                model="anthropic/claude-sonnet-5",
                messages=MESSAGES,
                tools=TOOLS,
                container="container_011CdmIIxL1CT0l19YJcjI05",
                max_tokens=64,
                api_base=url,
                api_key="key",
                stream=True,
            )
        )
    except litellm.exceptions.MidStreamFallbackError as error:
        return str(error)[:120], True
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    calls = [call.function.name for choice in choices for call in choice.delta.tool_calls or []]
    reasons = [choice.finish_reason for choice in choices if choice.finish_reason]
    is_whole = calls == ["level"] and reasons == ["tool_calls"]
    return f"{len(chunks)} chunks, calls {calls}, finish reasons {reasons}", not is_whole


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a call of level in message_start, stop_reason tool_use")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
