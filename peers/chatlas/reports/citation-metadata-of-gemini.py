"""The citation metadata of Gemini becomes no ContentCitation.

Gemini sends `citationMetadata` with the sources of recited text and its place. chatlas makes a ContentCitation of `groundingMetadata` alone; the sources are in `turn.completion["candidates"][0]["citation_metadata"]` only.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatGoogle

SENT = b"""\
data: {"candidates": [{"content": {"parts": [{"text": "Das Lied beginnt so: \xe2\x80\x9e\xc3\x9cber d"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": 7,"totalTokenCount": 14,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 7}],"serviceTier": "standard"},"modelVersion": "gemini-2.5-flash-lite","responseId": "kugdnFa1HP5qibDsTvpeip"}\x0d
\x0d
data: {"candidates": [{"content": {"parts": [{"text": "en Deich zog der Nebel herein"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": 15,"totalTokenCount": 22,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 7}],"serviceTier": "standard"},"modelVersion": "gemini-2.5-flash-lite","responseId": "kugdnFa1HP5qibDsTvpeip"}\x0d
\x0d
data: {"candidates": [{"finishReason": "RECITATION","index": 0,"citationMetadata": {"citationSources": [{"endIndex": 16,"uri": "https://lieder.example/anfang"},{"startIndex": 21,"endIndex": 60,"uri": "https://lieder.example/deich","license": "cc-by"},{"uri": "https://lieder.example/sammlung"}]}}],"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": 15,"totalTokenCount": 22,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 7}],"serviceTier": "standard"},"modelVersion": "gemini-2.5-flash-lite","responseId": "kugdnFa1HP5qibDsTvpeip"}\x0d
\x0d
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
    chat = ChatGoogle(model="gemini-2.5-flash-lite", api_key="key", kwargs={"http_options": {"base_url": url}})
    for _ in chat.stream("Hi"):
        pass
    turn = chat.get_last_turn()
    kinds = [each.content_type for each in turn.contents]
    return f"contents {kinds}", "citation" not in kinds


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "citationMetadata with three sources")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
