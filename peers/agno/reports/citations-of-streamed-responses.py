"""Of several citations in a stream of OpenAI the last one alone is kept.

Each citation comes in an event `response.output_text.annotation.added`. `OpenAIResponses` makes a new `Citations`
of each, and the fold of the stream (`_populate_stream_data`) replaces the earlier by the later. (The events of the
run have each of them.)

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
    b"event: response.created\n"
    b'data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"r'
    b'esponse","created_at":1790000000,"status":"in_progress","model":"gpt-5","output":[],"paral'
    b'lel_tool_calls":true,"tools":[],"tool_choice":"auto","error":null,"incomplete_details":nul'
    b'l,"usage":null}}\n'
    b"\n"
    b"event: response.output_text.delta\n"
    b'data: {"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_i'
    b'ndex":0,"content_index":0,"delta":"Text.","logprobs":[]}\n'
    b"\n"
    b"event: response.output_text.annotation.added\n"
    b'data: {"type":"response.output_text.annotation.added","sequence_number":2,"item_id":"msg_1'
    b'","output_index":0,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citati'
    b'on","start_index":0,"end_index":4,"url":"https://one.example","title":"one"}}\n'
    b"\n"
    b"event: response.output_text.annotation.added\n"
    b'data: {"type":"response.output_text.annotation.added","sequence_number":3,"item_id":"msg_1'
    b'","output_index":0,"content_index":0,"annotation_index":1,"annotation":{"type":"url_citati'
    b'on","start_index":0,"end_index":4,"url":"https://two.example","title":"two"}}\n'
    b"\n"
    b"event: response.completed\n"
    b'data: {"type":"response.completed","sequence_number":4,"response":{"id":"resp_1","object":'
    b'"response","created_at":1790000000,"status":"completed","model":"gpt-5","output":[{"type":'
    b'"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_'
    b'text","text":"Text.","logprobs":[],"annotations":[{"type":"url_citation","start_index":0,"'
    b'end_index":4,"url":"https://one.example","title":"one"},{"type":"url_citation","start_inde'
    b'x":0,"end_index":4,"url":"https://two.example","title":"two"}]}]}],"paral'
    b'lel_tool_calls":true,"tools":[],"tool_choice":"auto","error":null,"incomplete_details":nul'
    b'l,"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":0},"output_tokens":16'
    b',"output_tokens_details":{"reasoning_tokens":0},"total_tokens":27}}}\n'
    b"\n"
)


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
    answer = None
    for event in Agent(model=OpenAIResponses(id="gpt-5", api_key="key", base_url=url, max_retries=0)).run(
        "Hi", stream=True, yield_run_output=True
    ):
        answer = event
    urls = [each.url for each in answer.messages[-1].citations.urls]
    return f"citations of {urls}", len(urls) < 2


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "citations of https://one.example and https://two.example")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
