"""google-genai: a body that is no valid JSON raises JSONDecodeError, although `UnknownApiResponseError` is there for it.

The body ends in its middle, and the connection is closed properly.

Needs google-genai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google import genai
from google.genai import errors, types

BODY = b"""{"candidates":[{"content":{"role":"model","parts":[{"te"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
    try:
        client.models.generate_content(model="gemini-2.5-flash", contents="Hi")
    except errors.UnknownApiResponseError as error:
        return type(error).__name__, False
    except json.JSONDecodeError as error:
        return f"JSONDecodeError: {error}", True
    return "no error", True


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: half an answer; {said}")
sys.exit(1 if is_wrong else 0)
