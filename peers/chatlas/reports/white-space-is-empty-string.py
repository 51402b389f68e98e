"""White space in an answer becomes the text "[empty string]".

`ContentText` replaces a text of nothing but white space by "[empty string]", also if it is one part of an answer that has other text. The text of the turn then has "[empty string]" in the place of the white space.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatAnthropic

SENT = b"""\
{"model":"claude-opus-4-6","id":"msg_01DfHjBqNTskFWrzNnAJbVfa","type":"message","role":"assistant","content":[{"type":"text","text":"\\n\\n"},{"type":"thinking","thinking":"A pair of rhyming German nouns is wanted; short ones, and no proper names.","signature":"ErUBCkgICxgCKkCIUBh7Va2GRmQWtpkrcVMmJqECeUfUL6N5ID07TFpM7MNSVB/12k9K3nSVJR3PTKPbdwHNXiQKSFFA4MZlYPueJmTZf5yx9j7iHD+743Ck0TKHaHD2sSNaoEpDx6aD8FYYAQ=="},{"type":"text","text":"Stra\xc3\x9fe, Ma\xc3\x9fe"}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":33,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":41,"output_tokens_details":{"thinking_tokens":21},"service_tier":"standard","inference_geo":"global"}}"""


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
    chat = ChatAnthropic(
        model="claude-opus-4-6", reasoning="low", api_key="key", kwargs={"base_url": url, "max_retries": 0}
    )
    chat.chat("Hi", echo="none", stream=False)
    turn = chat.get_last_turn()
    return f"text {turn.text!r}", "[empty string]" in turn.text


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a text block of two line feeds, thinking, and a text block")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
