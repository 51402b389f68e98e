"""Citations of files in a plain answer that cites no page are lost.

OpenAI's file search cites files (`file_citation`). `OpenAIResponses` sets the citations of a plain answer only if a
URL is among them. If the answer cites files alone, it has no citations.

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.openai import OpenAIResponses

SENT = (
    b'{"id":"resp_1","object":"response","created_at":1790000000,"status":"completed","model":"g'
    b'pt-5","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","co'
    b'ntent":[{"type":"output_text","text":"The lease ends in May.","annotations":[{"type":"file'
    b'_citation","file_id":"file-1","filename":"lease.pdf","index":21}],"logprobs":[]}]}],"paral'
    b'lel_tool_calls":true,"tools":[],"tool_choice":"auto","error":null,"incomplete_details":nul'
    b'l,"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":0},"output_tokens":16'
    b',"output_tokens_details":{"reasoning_tokens":0},"total_tokens":27}}'
)


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
    model = OpenAIResponses(id="gpt-5", api_key="key", base_url=url, max_retries=0)
    search = {"type": "file_search", "vector_store_ids": ["vs_1"]}
    answer = Agent(model=model, tools=[search]).run("When does the lease end?")
    return f"citations {answer.citations}", answer.citations is None


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a citation of lease.pdf")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
