"""The code that Claude ran does not go back with the result of the tool that it called.

Claude runs code, which calls a tool of the client's: the answer has a `server_tool_use` block of `code_execution` and a `tool_use` block whose `caller` is that code. The message goes back with the result in a `tool` message. LiteLLM leaves out the `server_tool_use` block, which has no result yet, and the `caller` of the `tool_use` block. (LiteLLM leaves out a block whose result is lost, because Anthropic refuses it: https://github.com/BerriAI/litellm/pull/30486. Here the result is still to come.)

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

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
ASKED = []
SENT = b"""\
{"model":"claude-sonnet-5","id":"msg_011CdZg2MK6vlPQMca04EDEn","type":"message","role":"assistant","content":[{"type":"text","text":"I\xe2\x80\x99ll compare the two levels in code."},{"type":"server_tool_use","id":"srvtoolu_01oazFJ29Xseo2n4xQNcqVAm","name":"code_execution","input":{"code":"levels = {}\\nfor lock in ['Brielse', 'Volkerak']:\\n    levels[lock] = await level({'lock': lock})\\nprint(max(levels, key=levels.get))\\n"},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_01V4pD6U0D8fdWDixQGPBc54","name":"level","input":{"lock":"Brielse"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01oazFJ29Xseo2n4xQNcqVAm"}}],"container":{"id":"container_011CdmIIxL1CT0l19YJcjI05","expires_at":"2026-10-14T10:02:11.870215Z"},"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":3402,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":176,"service_tier":"standard","inference_geo":"global","server_tool_use":{"web_search_requests":0,"web_fetch_requests":0}}}"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    messages = [{"role": "user", "content": "Which of the locks Brielse and Volkerak is higher today?"}]
    asked = {
        "model": "anthropic/claude-sonnet-5",
        "max_tokens": 64,
        "tools": TOOLS,
        "api_base": url,
        "api_key": "key",
    }
    message = litellm.completion(messages=messages, **asked).choices[0].message
    call = next(each for each in message.tool_calls if each.function.name == "level")
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "3.12"}]
    container = message.provider_specific_fields["container"]["id"]  # Anthropic refuses the next turn without it
    litellm.completion(messages=messages, container=container, **asked)
    blocks = ASKED[-1]["messages"][1]["content"]
    kinds = [block["type"] for block in blocks]
    has_caller = any("caller" in block for block in blocks if block["type"] == "tool_use")
    return f"sent back: {kinds}, caller: {has_caller}", "server_tool_use" not in kinds or not has_caller


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "server_tool_use of code_execution, and tool_use of level with its caller")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
