"""Redacted thinking of Claude's is dropped and does not go back.

Anthropic asks for `redacted_thinking` blocks back, unmodified, in the request with the result of a tool. The contents of the turn lack them, and so does the request that the chat makes with the result.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatAnthropic

SENT = b"""\
{"model":"claude-sonnet-4-5-20250929","id":"msg_01Hc5uKzQwRt3Xb7VmPd9LyF","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"La frase est\xc3\xa1 en la segunda parte; hay que buscar el cap\xc3\xadtulo. ","signature":"ErUBCkgICxgCKkDH0D8ktokFpR1CXnubPWC8tXX0o4YM13gWrxU0FYOD1MChgxlK/CNVgJSql50IQVG82n7u86MEs/HlXsmUv6ad"},{"type":"redacted_thinking","data":"ErUBCkgICxgCKkDUmd2iCLuYk1I/OFexcp5y9YCy39MIVelFlVpkfIu+Me173sY0f9BxZNw77CFhlHUSpNsEbexRMSP4E3zxqPo2g=="},{"type":"thinking","thinking":"El \xc3\xadndice lo dir\xc3\xa1 mejor que mi memoria.","signature":"ErUBCkgICxgCKkDrMKNsr63tCuqHLAkPUAcy04/zkTXsCh5pSeZqt/1QVItiCJZiy+mZPnVFWwAySSAXXXDhovVbCrLgdN+mONa3"},{"type":"text","text":"Busco el cap\xc3\xadtulo."},{"type":"tool_use","id":"toolu_01Ynq2HsRfBt8Lw0PxGd4VkE","name":"chapter","input":{"book":"Don Quijote, II"},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":401,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":118,"service_tier":"standard","inference_geo":"not_available"}}"""

ASKED = []
THEN = b"""\
{"model":"claude-sonnet-4-5-20250929","id":"msg_01Jd7bNzQwRt3Xb7VmPd9LyG","type":"message","role":"assistant","content":[{"type":"text","text":"Es el LVIII."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":530,"output_tokens":9}}"""


class Provider(BaseHTTPRequestHandler):
    """Answer the first request with the call of a tool, and the next with a text."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT if len(ASKED) == 1 else THEN)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = {"base_url": url, "max_retries": 0}
    chat = ChatAnthropic(model="claude-sonnet-4-5", reasoning=2048, api_key="key", kwargs=client)

    def chapter(book: str) -> str:
        """Return the chapter."""
        return "LVIII"

    chat.register_tool(chapter)
    chat.chat("Hi", echo="none", stream=False)
    back = next(each["content"] for each in ASKED[1]["messages"] if each["role"] == "assistant")
    kinds = [block["type"] for block in back]
    return f"goes back: {kinds}", "redacted_thinking" not in kinds


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "thinking, redacted_thinking, thinking, text and tool_use")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
