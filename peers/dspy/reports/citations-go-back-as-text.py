"""dspy: what Claude cites goes back as a text that the assistant wrote.

An answer with citations has a CitationPart behind the text that it belongs to. If `response.message` goes back with the
next question, each CitationPart becomes a text block of the assistant with the words of the source.

Install dspy 3.4.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else
failed.
"""

import json
import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it loads no list of prices

import dspy
from dspy import lm15

ASKED = []
SENT = b"""\
{"model":"claude-sonnet-4-6","id":"msg_01cb32JFSEoN8fcaKVyBVxKc","type":"message","role":"assistant","content":[{"type":"text","text":"The tower is "},{"type":"text","text":"55 metres tall","citations":[{"type":"web_search_result_location","cited_text":"It stands 54.9 metres above the rock.","url":"https://lighthouses.example.org/tower","title":"Lighthouses","encrypted_index":"EpABCioIAhgBIiQ"}]},{"type":"text","text":"."}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":640,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":31,"service_tier":"standard"}}"""
WROTE = "The tower is 55 metres tall."


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(SENT)))
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    model = "anthropic/claude-sonnet-4-6"
    lm = dspy.LM(model, engine="lm15", api_base=url, api_key="key", num_retries=0, cache=False)
    asked = (lm15.Message.user("How tall is the tower?"),)
    tools = (lm15.BuiltinTool(name="web_search"),)
    response = lm(lm15.Request(model=model, messages=asked, tools=tools))
    lm(lm15.Request(model=model, messages=(*asked, response.message, lm15.Message.user("And how old?")), tools=tools))
    text = "".join(block.get("text", "") for block in ASKED[-1]["messages"][1]["content"])
    return f"sent back as the assistant's: {text!r}", text != WROTE


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", repr(WROTE))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
