"""By `completion()`, the thinking tokens that Claude reports are dropped.

Claude's usage has `output_tokens_details.thinking_tokens`. any-llm's usage has `completion_tokens_details.reasoning_tokens` for them, and `completion()` leaves `completion_tokens_details` None. `messages()` returns the count as Claude reports it.

Install any-llm-sdk[anthropic,openai] 1.40.2, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from any_llm import completion

SENT = b"""\
{"model":"claude-sonnet-4-6","id":"msg_01ka919JyFbEtpHtRNx4c459","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Eine Vorhersage ist gefragt; das Werkzeug nimmt Ort und Zahl der Tage entgegen.","signature":"ErUBCkgICxgCKkDpgPkRPQQtoqTMvV7pFVUJMkV4qeWzq9zmhayJW8LTWEecea9ThWIXPJUfQof8WKrr6cpKKxhd/FeMOICN7PpnRHon/anAFgqPasC8qAUgf9LbvkxW/vVQF+Zv83dRD6QYAQ=="},{"type":"tool_use","id":"toolu_01FSgk9Jpfp9ybihk7Yhj24k","name":"get_forecast","input":{"ort":"Z\xc3\xbcrich","tage":3,"hinweis":"nur \\"trocken\\" oder nass"},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":431,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":118,"output_tokens_details":{"thinking_tokens":22},"service_tier":"standard","inference_geo":"global"}}"""


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


FORECAST = {
    "name": "get_forecast",
    "description": "Get the forecast of a place",
    "parameters": {
        "type": "object",
        "properties": {"ort": {"type": "string"}, "tage": {"type": "integer"}, "hinweis": {"type": "string"}},
        "required": ["ort", "tage"],
    },
}


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    answer = completion(
        provider="anthropic",
        model="claude-sonnet-4-6",
        messages=[{"role": "user", "content": "Hi"}],
        api_key="key",
        api_base=url,
        max_tokens=4096,
        reasoning_effort="low",
        tools=[{"type": "function", "function": FORECAST}],
        client_args={"max_retries": 0},
    )

    details = answer.usage.completion_tokens_details
    count = details.reasoning_tokens if details else None
    return f"reasoning_tokens {count}", count is None


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "output_tokens_details with thinking_tokens")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
