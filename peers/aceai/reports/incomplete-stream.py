"""A stream that OpenAI ends as incomplete or failed raises without the reason.

Of `response.completed`, `response.incomplete` and `response.failed`, only the first is read. After
`response.incomplete`, and after `response.failed` that no event `error` precedes, AceAIRuntimeError is raised,
without the usage and the reason. Without `stream` the incomplete answer is returned.

Install aceai[providers] 0.2.39, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aceai.llm import LLMMessage, LLMService
from aceai.llm.openai import OpenAI
from openai import AsyncOpenAI

MODEL = "gpt-5.4-2026-03-05"
SENT = b"""\
event: response.created
data: {"type":"response.created","response":{"id":"resp_09cbf001fbb202a1016a5a70c72960814eb58145a63b04a011","object":"response","created_at":1784312007,"status":"in_progress","background":false,"completed_at":null,"error":null,"frequency_penalty":0.0,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"max_tool_calls":null,"model":"gpt-5.4-2026-03-05","moderation":null,"output":[],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"24h","reasoning":{"context":"current_turn","effort":"none","mode":"standard","summary":null},"safety_identifier":null,"service_tier":"auto","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tool_usage":{"image_gen":{"input_tokens":0,"input_tokens_details":{"image_tokens":0,"text_tokens":0},"output_tokens":0,"output_tokens_details":{"image_tokens":0,"text_tokens":0},"total_tokens":0},"web_search":{"num_requests":0}},"tools":[],"top_logprobs":0,"top_p":0.98,"truncation":"disabled","usage":null,"user":null,"metadata":{}},"sequence_number":0}

event: response.in_progress
data: {"type":"response.in_progress","response":{"id":"resp_09cbf001fbb202a1016a5a70c72960814eb58145a63b04a011","object":"response","created_at":1784312007,"status":"in_progress","background":false,"completed_at":null,"error":null,"frequency_penalty":0.0,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"max_tool_calls":null,"model":"gpt-5.4-2026-03-05","moderation":null,"output":[],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"24h","reasoning":{"context":"current_turn","effort":"none","mode":"standard","summary":null},"safety_identifier":null,"service_tier":"auto","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tool_usage":{"image_gen":{"input_tokens":0,"input_tokens_details":{"image_tokens":0,"text_tokens":0},"output_tokens":0,"output_tokens_details":{"image_tokens":0,"text_tokens":0},"total_tokens":0},"web_search":{"num_requests":0}},"tools":[],"top_logprobs":0,"top_p":0.98,"truncation":"disabled","usage":null,"user":null,"metadata":{}},"sequence_number":1}

event: response.output_item.added
data: {"type":"response.output_item.added","item":{"id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","type":"message","status":"in_progress","content":[],"phase":"final_answer","role":"assistant"},"output_index":0,"sequence_number":2}

event: response.content_part.added
data: {"type":"response.content_part.added","content_index":0,"item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","output_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""},"sequence_number":3}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"The li","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"nZCEXN6CCa","output_index":0,"sequence_number":4}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"st of lig","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"jqsq1oE","output_index":0,"sequence_number":5}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"htho","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"CQTsyA08FvYj","output_index":0,"sequence_number":6}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"uses b","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"qqyKIOFX1n","output_index":0,"sequence_number":7}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"egins in ","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"VluKbb4","output_index":0,"sequence_number":8}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"the ","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"p1fJPH1NnccS","output_index":0,"sequence_number":9}

event: response.output_text.delta
data: {"type":"response.output_text.delta","content_index":0,"delta":"no","item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"obfuscation":"kqEv8bpRuCHHWY","output_index":0,"sequence_number":10}

event: response.output_text.done
data: {"type":"response.output_text.done","content_index":0,"item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","logprobs":[],"output_index":0,"sequence_number":11,"text":"The list of lighthouses begins in the no"}

event: response.content_part.done
data: {"type":"response.content_part.done","content_index":0,"item_id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","output_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":"The list of lighthouses begins in the no"},"sequence_number":12}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","type":"message","status":"incomplete","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"The list of lighthouses begins in the no"}],"phase":"final_answer","role":"assistant"},"output_index":0,"sequence_number":13}

event: response.incomplete
data: {"type":"response.incomplete","response":{"id":"resp_09cbf001fbb202a1016a5a70c72960814eb58145a63b04a011","object":"response","created_at":1784312007,"status":"incomplete","background":false,"completed_at":null,"error":null,"frequency_penalty":0.0,"incomplete_details":{"reason":"max_output_tokens"},"instructions":null,"max_output_tokens":16,"max_tool_calls":null,"model":"gpt-5.4-2026-03-05","moderation":null,"output":[{"id":"msg_09cbf001fbb202a1016a5a70c76f2d814eb8a8c7371cfe1f22","type":"message","status":"incomplete","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"The list of lighthouses begins in the no"}],"phase":"final_answer","role":"assistant"}],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"24h","reasoning":{"context":"current_turn","effort":"none","mode":"standard","summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tool_usage":{"image_gen":{"input_tokens":0,"input_tokens_details":{"image_tokens":0,"text_tokens":0},"output_tokens":0,"output_tokens_details":{"image_tokens":0,"text_tokens":0},"total_tokens":0},"web_search":{"num_requests":0}},"tools":[],"top_logprobs":0,"top_p":0.98,"truncation":"disabled","usage":{"input_tokens":11,"input_tokens_details":{"cache_write_tokens":0,"cached_tokens":0},"output_tokens":16,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":27},"user":null,"metadata":{}},"sequence_number":14}

"""


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


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    provider = OpenAI(AsyncOpenAI(api_key="key", base_url=url, max_retries=0), default_meta={"model": MODEL})
    service = LLMService(providers=[provider], timeout_seconds=20, max_retries=0)
    messages = [LLMMessage.build(role="user", content="Hi")]
    try:
        last = [event async for event in service.stream(messages=messages)][-1]
    except Exception as error:
        return f"{type(error).__name__}: {error}", "response.completed" in str(error)
    return f"{last.event_type}, status {last.response.status!r}", False


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "response.incomplete with the reason max_output_tokens")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
