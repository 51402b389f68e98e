"""A call that Claude makes to an MCP server is lost.

With Anthropic's MCP connector an answer has a block `mcp_tool_use` with the name and the input of the call, and a block `mcp_tool_result`. The message that LiteLLM returns does not have the call; the result is in its `provider_specific_fields["tool_results"]`. If the message goes back, as the documentation shows, neither is in the request.

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

ASKED = []
SENT = json.dumps(
    {
        "model": "claude-sonnet-4-5",
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I ask the server. "},
            {
                "type": "mcp_tool_use",
                "id": "mcptoolu_01",
                "name": "level",
                "input": {"lock": "Volkerak"},
                "server_name": "tides",
            },
            {
                "type": "mcp_tool_result",
                "tool_use_id": "mcptoolu_01",
                "is_error": False,
                "content": [{"type": "text", "text": "3.12"}],
            },
            {"type": "text", "text": "It is 3.12 m."},
        ],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 340, "output_tokens": 17},
    }
).encode()


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
    server = {
        "type": "mcp",
        "server_label": "tides",
        "server_url": "https://tides.example.org/mcp",
        "require_approval": "never",
    }
    asked = {
        "model": "anthropic/claude-sonnet-4-5",
        "max_tokens": 64,
        "tools": [server],
        "api_base": url,
        "api_key": "key",
    }
    messages = [{"role": "user", "content": "Hi"}]
    message = litellm.completion(messages=messages, **asked).choices[0].message
    messages += [message, {"role": "user", "content": "And now?"}]
    litellm.completion(messages=messages, **asked)
    kinds = [block["type"] for block in ASKED[-1]["messages"][1]["content"]]
    in_answer = "Volkerak" in repr(message.model_dump())
    return f"the call is in the answer: {in_answer}; sent back: {kinds}", "mcp_tool_use" not in kinds


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "mcp_tool_use of level, and mcp_tool_result")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
