"""ollama 0.6.3: the id of a tool call is lost.

Exit code 1 while it does, 0 when it does not, 2 if something else went wrong.
"""

import http.server
import sys
import threading
import traceback

import ollama

BODY = (
    b'{"model":"qwen3:8b","created_at":"2026-10-11T12:00:00Z","message":{"role":"assistant","content":"","tool_calls":'
    b'[{"id":"call_5cy7mptj","function":{"index":0,"name":"snow_depth","arguments":{"place":"Zermatt"}}}]},'
    b'"done":true,"done_reason":"stop"}'
)
HEADERS = {"content-type": "application/json", "content-length": str(len(BODY))}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(BODY)
        self.wfile.flush()

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


def main():
    """Return the exit code."""
    call = ollama.Client(URL).chat("qwen3:8b", [{"role": "user", "content": "Snow?"}]).message.tool_calls[0]
    if call.function.name != "snow_depth":
        return 2
    if "call_5cy7mptj" in str(call.model_dump()):
        print("mended: the call has its id")
        return 0
    print(f"seen: {call!r}")
    print('sent: {"id":"call_5cy7mptj","function":...}')
    return 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
