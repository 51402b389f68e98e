"""Of several text blocks of a plain answer of Claude's, the first is returned, and the others are lost.

Claude's answers may have several text blocks, for example before and after thinking. The message of a plain answer
has the text of the first.

Install aisuite 0.2.0 with anthropic 0.125.0 and openai 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aisuite

SENT = b"""\
{"model":"claude-opus-4-6","id":"msg_01aCqyrAcpA1bzKWBgC3AuCA","type":"message","role":"assistant","content":[{"type":"text","text":"Good morning! Let me work that out.\\n\\n"},{"type":"thinking","thinking":"17 % of 2,340: a tenth is 234, half that 117, two hundredths 46.8 \xe2\x80\x94 adding up to 397.8 exactly.","signature":"ErUBCkgICxgCKkBS3kmeDbQulBgmi+D+kyxGiv00vz2I1koomuPMEhW8hLHkHjxqXYIR2t+f65Csd+cIcMJL2S5zksrAs9HzE7/m4Ymoyhd/QQX6m0RPDfjGypuKAEsaFNeRBwoTuLkO+3sYAQ=="},{"type":"text","text":"It comes to **\xe2\x82\xac397.80**."}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":36,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":84,"output_tokens_details":{"thinking_tokens":26},"service_tier":"standard","inference_geo":"global"}}"""


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
    client = aisuite.Client({"anthropic": {"api_key": "key", "base_url": url, "max_retries": 0}})
    answer = client.chat.completions.create(
        "anthropic:claude-opus-4-6", [{"role": "user", "content": "Hi"}], max_tokens=1024, thinking={"type": "adaptive"}
    )

    sent = "".join(block.get("text", "") for block in json.loads(SENT)["content"])
    return repr(answer.choices[0].message.content), answer.choices[0].message.content != sent


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "two text blocks and a thinking block between them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
