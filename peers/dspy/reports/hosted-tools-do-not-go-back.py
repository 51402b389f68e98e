"""What Claude did with its own tools does not go back.

The answer ends with `pause_turn`; it has `server_tool_use` blocks and their results. Claude wants them back in order to go on
(https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons). `response.message` leaves them out, and so does the next request that has this message.

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
{"model":"claude-sonnet-4-6","id":"msg_01cb32JFSEoN8fcaKVyBVxKc","type":"message","role":"assistant","content":[{"type":"text","text":"I\xe2\x80\x99ll check the lines one by one."},{"type":"server_tool_use","id":"srvtoolu_01GMyuSQcBu1eoRsiop7oW84","name":"web_search","input":{"query":"ferry line north fares"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_01GMyuSQcBu1eoRsiop7oW84","content":[{"type":"web_search_result","title":"Nordf\xc3\xa4hre: fares","url":"https://ferries.example.net/nord","encrypted_content":"ErUBCkgICxgCKkD16Cp/XGOrJLEZf1QjZRbl5auVCxDxIMcWmXzt45Q/hSjLHkZtYRqPemYLmEX1GX4lXjJ+h2ipW/A3gY8YAQ==","page_age":null}]},{"type":"server_tool_use","id":"srvtoolu_01CNjpoa58mdH70aBX86E2xF","name":"web_search","input":{"query":"ferry line south fares"}}],"stop_reason":"pause_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":6120,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":139,"service_tier":"standard","inference_geo":"global","server_tool_use":{"web_search_requests":1,"web_fetch_requests":0}}}"""


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
    asked = (lm15.Message.user("Which ferry is the cheapest?"),)
    tools = (lm15.BuiltinTool(name="web_search"),)
    response = lm(lm15.Request(model=model, messages=asked, tools=tools))
    lm(lm15.Request(model=model, messages=(*asked, response.message), tools=tools))
    kinds = [block["type"] for block in ASKED[-1]["messages"][1]["content"]]
    return f"sent back: {kinds}", "server_tool_use" not in kinds


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "an answer with server_tool_use and stop_reason pause_turn")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
