"""openai: get_final_completion raises AssertionError without a text if a page of HTML comes in place of a stream.

A proxy answers with its sign-in page and status 200.

Needs openai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if something
else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openai

BODY = b"""<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>
"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    try:
        with client.chat.completions.stream(model="gpt-5", messages=[{"role": "user", "content": "Hi"}]) as stream:
            stream.get_final_completion()
    except openai.APIError as error:
        return type(error).__name__, False
    except AssertionError as error:
        return f"AssertionError: {str(error)!r}", True
    return "no error", True


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: a page of HTML; {said}")
sys.exit(1 if is_wrong else 0)
