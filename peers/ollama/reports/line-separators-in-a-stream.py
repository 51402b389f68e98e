"""ollama 0.6.3: U+0085 in a streamed text ends the stream with a JSONDecodeError.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import json
import sys
import threading
import traceback

import ollama

TEXT = "before\u0085after"
SENT = "".join(
    json.dumps({"model": "m", "created_at": "2025-11-04T09:12:40Z", **part}, ensure_ascii=False) + "\n"
    for part in (
        {"message": {"role": "assistant", "content": TEXT}, "done": False},
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    )
).encode()


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Print nothing."""


def main():
    """Return the exit code."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = ollama.Client(f"http://127.0.0.1:{server.server_port}")
    try:
        parts = list(client.chat("m", [{"role": "user", "content": "Hello"}], stream=True))
    except json.JSONDecodeError as error:
        print(f"sent {TEXT!r}; seen: JSONDecodeError: {error}")
        return 1
    text = "".join(part.message.content for part in parts)
    print(f"sent {TEXT!r}; seen: {text!r}")
    return 0 if text == TEXT else 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
