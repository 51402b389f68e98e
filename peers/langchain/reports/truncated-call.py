"""langchain: a streamed tool call that was cut off becomes a complete call with repaired arguments.

https://github.com/langchain-ai/langchain/issues/39275 (closed, and so are its two pull requests; langchain-core 1.7.2
is as before). The answer ends with `response.incomplete`, because its tokens were used up within the arguments.

Needs langchain-openai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_openai import ChatOpenAI

BODY = b"""event: response.created
data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1785360009,"model":"gpt-5.4","output":[],"tools":[],"parallel_tool_calls":true,"tool_choice":"auto","status":"in_progress"},"sequence_number":0}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","name":"delete_files","arguments":"","call_id":"call_1"},"sequence_number":1}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":"{\\"path\\":\\"/tmp","sequence_number":2}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","output_index":0,"item_id":"fc_1","arguments":"{\\"path\\":\\"/tmp","name":"delete_files","sequence_number":3}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"incomplete","name":"delete_files","arguments":"{\\"path\\":\\"/tmp","call_id":"call_1"},"sequence_number":4}

event: response.incomplete
data: {"type":"response.incomplete","response":{"id":"resp_1","object":"response","created_at":1785360009,"model":"gpt-5.4","output":[{"id":"fc_1","type":"function_call","status":"incomplete","name":"delete_files","arguments":"{\\"path\\":\\"/tmp","call_id":"call_1"}],"tools":[],"parallel_tool_calls":true,"tool_choice":"auto","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":63,"input_tokens_details":{"cached_tokens":0},"output_tokens":24,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":87}},"sequence_number":5}

"""


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


def seen(url):
    """Return what a user of the library sees, and whether that is the fault."""
    model = ChatOpenAI(
        model="gpt-5.4", base_url=url, api_key="none", max_retries=0, use_responses_api=True, max_tokens=24
    ).bind_tools(
        [
            {
                "name": "delete_files",
                "description": "Delete all files below a path.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
            }
        ]
    )
    whole = None
    for chunk in model.stream("Delete the files below /tmp/old."):
        whole = chunk if whole is None else whole + chunk
    return f"tool_calls {whole.tool_calls}, invalid_tool_calls {whole.invalid_tool_calls}", bool(whole.tool_calls)


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: arguments that end within '/tmp...; {said}")
sys.exit(1 if is_wrong else 0)
