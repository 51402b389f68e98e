"""Several thinking blocks of Claude's go back as one, with the wrong signature.

An answer has a thinking block, a redacted one and a second thinking block before a tool call. Anthropic asks for
all of them back, unmodified
(https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks). any-llm joins the
texts and keeps the last signature; the redacted block is dropped. What goes back is one block.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import completion

ASKED = []
SENT = b"""\
{"model":"claude-sonnet-4-5-20250929","id":"msg_01Hc5uKzQwRt3Xb7VmPd9LyF","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"La frase est\xc3\xa1 en la segunda parte; hay que buscar el cap\xc3\xadtulo. ","signature":"ErUBCkgICxgCKkDH0D8ktokFpR1CXnubPWC8tXX0o4YM13gWrxU0FYOD1MChgxlK/CNVgJSql50IQVG82n7u86MEs/HlXsmUv6ad"},{"type":"redacted_thinking","data":"ErUBCkgICxgCKkDUmd2iCLuYk1I/OFexcp5y9YCy39MIVelFlVpkfIu+Me173sY0f9BxZNw77CFhlHUSpNsEbexRMSP4E3zxqPo2g=="},{"type":"thinking","thinking":"El \xc3\xadndice lo dir\xc3\xa1 mejor que mi memoria.","signature":"ErUBCkgICxgCKkDrMKNsr63tCuqHLAkPUAcy04/zkTXsCh5pSeZqt/1QVItiCJZiy+mZPnVFWwAySSAXXXDhovVbCrLgdN+mONa3"},{"type":"text","text":"Busco el cap\xc3\xadtulo."},{"type":"tool_use","id":"toolu_01Ynq2HsRfBt8Lw0PxGd4VkE","name":"chapter","input":{"book":"Don Quijote, II"},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":401,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":118,"service_tier":"standard","inference_geo":"not_available"}}"""


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


CHAPTER = {
    "name": "chapter",
    "description": "Find a sentence",
    "parameters": {"type": "object", "properties": {"book": {"type": "string"}}, "required": ["book"]},
}


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    tools = [{"type": "function", "function": CHAPTER}]
    asked = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api_key": "key", "api_base": url}
    asked |= {"max_tokens": 4096, "reasoning_effort": "low", "tools": tools}
    messages = [{"role": "user", "content": "Hi"}]
    message = completion(messages=messages, **asked).choices[0].message
    messages += [message.model_dump(), {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "LVIII"}]
    completion(messages=messages, **asked)
    sent = [*thinking(json.loads(SENT)["content"])]
    back = [*thinking(ASKED[-1]["messages"][1]["content"])]
    return f"sent back {back} for {sent}", back != sent


def thinking(blocks):
    """Yield the thinking blocks: what each has of a text, its signature and sealed data."""
    for block in blocks:
        if block["type"] in ("thinking", "redacted_thinking"):
            yield {name: block[name] for name in ("type", "thinking", "signature", "data") if name in block}


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "thinking and redacted_thinking blocks before a tool call")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
