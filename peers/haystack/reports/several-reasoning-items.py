"""haystack: of several reasoning items of a plain response, only the last is in the reply.

A model that uses tools of OpenAI, such as the code interpreter, reasons before and after: the response has a
reasoning item for each. Each replaces the one before, with its encrypted content.

Needs haystack-ai and nothing else. Exits with 1 while the fault is there, with 0 when it is mended, with 2 if
something else went wrong.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from haystack.components.generators.chat import OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

BODY = b"""{"id":"resp_68cdc382bc98819083a5b47ec92e077b0187028ba77f15f7","object":"response","created_at":1758315394,"status":"completed","background":false,"error":null,"incomplete_details":null,"instructions":null,"model":"gpt-5-2025-08-07","output":[{"id":"rs_68cdc3933d3081908","type":"reasoning","summary":[{"type":"summary_text","text":"First, what has to be computed."}],"encrypted_content":"gAAAAABozcO1"},{"id":"ci_68cdc39da72c819","type":"code_interpreter_call","status":"completed","code":"65465 - 6544 * 65464 - 6 + 1.02255","container_id":"cntr_68cdc387531c8190","outputs":null},{"id":"rs_68cdc39f7aa08190","type":"reasoning","summary":[{"type":"summary_text","text":"Second, how to show it."}],"encrypted_content":"gAAAAABozcO2"},{"id":"msg_68cdc3acc39c8190","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"-428,330,955.97745"}],"role":"assistant"}],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":"low","summary":"detailed"},"store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[{"type":"code_interpreter","container":{"type":"auto"}}],"top_p":1.0,"truncation":"disabled","usage":{"input_tokens":1493,"input_tokens_details":{"cached_tokens":1280},"output_tokens":125,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":1618},"user":null,"metadata":{}}"""


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
    generator = OpenAIResponsesChatGenerator(
        model="gpt-5",
        api_key=Secret.from_token("none"),
        api_base_url=url,
        max_retries=0,
        tools=[{"type": "code_interpreter", "container": {"type": "auto"}}],
        generation_kwargs={
            "reasoning": {"effort": "low", "summary": "detailed"},
            "include": ["reasoning.encrypted_content"],
        },
    )
    reply = generator.run([ChatMessage.from_user("What is 65465 - 6544 * 65464 - 6 + 1.02255?")])["replies"][0]
    reasoning = " ".join(each.reasoning_text for each in reply.reasonings)
    return f"{reasoning!r} of {len(reply.reasonings)} item(s)", "First" not in reasoning


try:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said, is_wrong = seen(f"http://127.0.0.1:{server.server_port}")
except Exception:
    traceback.print_exc()
    sys.exit(2)
print(f"sent: two reasoning items, 'First, ...' and 'Second, ...'; {said}")
sys.exit(1 if is_wrong else 0)
