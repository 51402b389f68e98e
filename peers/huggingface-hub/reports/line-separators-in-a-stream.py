"""huggingface_hub 2.4.0: U+2028 in a streamed text ends the stream with a JSONDecodeError.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from huggingface_hub import InferenceClient

TEXT = "before\u2028after"
CHUNK = {
    **{"id": "c", "object": "chat.completion.chunk", "created": 1762247560, "model": "m"},
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
}
SENT = f"data: {json.dumps(CHUNK, ensure_ascii=False)}\n\ndata: [DONE]\n\n".encode()


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes above."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def main():
    """Return the exit code."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = InferenceClient(base_url=f"http://127.0.0.1:{server.server_port}", api_key="key", timeout=5)
    asked = [{"role": "user", "content": "Hello"}]
    try:
        chunks = list(client.chat_completion(asked, model="m", stream=True))
    except json.JSONDecodeError as error:
        print(f"sent {TEXT!r}; seen: JSONDecodeError: {error}")
        return 1
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    print(f"sent {TEXT!r}; seen: {text!r}")
    return 0 if text == TEXT else 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
