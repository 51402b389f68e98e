"""A tool whose schema has a list of types cannot be used with Gemini.

JSON Schema writes an optional text as `{"type": ["string", "null"]}`. ChatGoogle makes google-genai's `Schema` of the parameters of a tool, which has one type, and AttributeError is raised before anything is asked.

Install chatlas 0.23.0 with openai 3.54.0, anthropic 2.12.0 and google-genai 3.4.0, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chatlas import ChatGoogle, Tool

SENT = b"""\
{
  "candidates": [{"content": {"parts": [{"text": "Guten Tag."}], "role": "model"}, "finishReason": "STOP", "index": 0}],
  "usageMetadata": {"promptTokenCount": 41, "candidatesTokenCount": 4, "totalTokenCount": 45},
  "modelVersion": "gemini-2.5-flash",
  "responseId": "0bUoaZ3pE8-kvdIP5u2B8AU"
}
"""
PARAMETERS = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What to look for"},
        "language": {"type": ["string", "null"], "description": "A language, or null for all"},
    },
    "required": ["text", "language"],
    "additionalProperties": False,
}


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


def find(text, language):
    """Find a text."""
    return "nothing"


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    chat = ChatGoogle(model="gemini-2.5-flash", api_key="key", kwargs={"http_options": {"base_url": url}})
    chat.set_tools([Tool(func=find, name="find", description="Find a text.", parameters=PARAMETERS)])
    try:
        chat.chat("Hi", echo="none", stream=False)
    except AttributeError as error:
        return repr(error), True
    return f"text {chat.get_last_turn().text!r}", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", 'a tool with a property of the type ["string", "null"]')
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
