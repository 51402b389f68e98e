"""The token counts of a stream are 0 if another chunk follows the usage.

`create_stream` reads the usage of the last chunk alone. OpenAI sends a chunk with the results of its moderation after the one with the
usage, if the request asks for them. The counts of the result are then 0.

Install autogen-ext[openai] 0.7.5, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else
failed.
"""

import asyncio
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from autogen_core.models import CreateResult, ModelFamily, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

SENT = b"""\
data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"nCDZnej"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"A leap "},"finish_reason":null}],"usage":null,"obfuscation":"zJ5tVQU"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"seco"},"finish_reason":null}],"usage":null,"obfuscation":"IEycJGDVnEh7T"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"nd: the la"},"finish_reason":null}],"usage":null,"obfuscation":"SuQUzHd"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"st on"},"finish_reason":null}],"usage":null,"obfuscation":"aZGF"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"e was a"},"finish_reason":null}],"usage":null,"obfuscation":"wJ2"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"dded"},"finish_reason":null}],"usage":null,"obfuscation":"IsDvLZn89MoO"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" on 31 Dec"},"finish_reason":null}],"usage":null,"obfuscation":"WpM85BPxXMq1"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"ember"},"finish_reason":null}],"usage":null,"obfuscation":"KroGaVqT8JfdJ"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" 2016."},"finish_reason":null}],"usage":null,"obfuscation":"xqFUheEnKCOq"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null,"obfuscation":"uu1QP6f"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":18,"completion_tokens":82,"total_tokens":100,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":64,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"QjpSD4"}

data: {"id":"chatcmpl-E4n1XHlVmrCxf2co5Ae8rE6Cy3ifp","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[],"moderation":{"input":{"type":"moderation_results","model":"omni-moderation-latest","results":[{"type":"moderation_result","model":"omni-moderation-latest","flagged":false,"categories":{"harassment":false,"harassment/threatening":false,"sexual":false,"hate":false,"hate/threatening":false,"illicit":false,"illicit/violent":false,"self-harm/intent":false,"self-harm/instructions":false,"self-harm":false,"sexual/minors":false,"violence":false,"violence/graphic":false},"category_scores":{"harassment":1.3e-06,"harassment/threatening":3.435804e-06,"sexual":6.5e-06,"hate":2.6e-06,"hate/threatening":1.734676e-06,"illicit":3.9e-06,"illicit/violent":5.625692e-06,"self-harm/intent":6.371337e-06,"self-harm/instructions":5.196556e-06,"self-harm":5.2e-06,"sexual/minors":3.267166e-06,"violence":7.8e-06,"violence/graphic":5.386785e-06},"category_applied_input_types":{"harassment":["text"],"harassment/threatening":["text"],"sexual":["text"],"hate":["text"],"hate/threatening":["text"],"illicit":["text"],"illicit/violent":["text"],"self-harm/intent":["text"],"self-harm/instructions":["text"],"self-harm":["text"],"sexual/minors":["text"],"violence":["text"],"violence/graphic":["text"]}}]},"output":{"type":"moderation_results","model":"omni-moderation-latest","results":[{"type":"moderation_result","model":"omni-moderation-latest","flagged":false,"categories":{"harassment":false,"harassment/threatening":false,"sexual":false,"hate":false,"hate/threatening":false,"illicit":false,"illicit/violent":false,"self-harm/intent":false,"self-harm/instructions":false,"self-harm":false,"sexual/minors":false,"violence":false,"violence/graphic":false},"category_scores":{"harassment":2.9e-06,"harassment/threatening":1.456071e-06,"sexual":1.45e-05,"hate":5.8e-06,"hate/threatening":3.879597e-06,"illicit":8.7e-06,"illicit/violent":4.276142e-06,"self-harm/intent":6.325007e-06,"self-harm/instructions":4.374004e-06,"self-harm":1.16e-05,"sexual/minors":6.626588e-06,"violence":1.74e-05,"violence/graphic":2.286781e-06},"category_applied_input_types":{"harassment":["text"],"harassment/threatening":["text"],"sexual":["text"],"hate":["text"],"hate/threatening":["text"],"illicit":["text"],"illicit/violent":["text"],"self-harm/intent":["text"],"self-harm/instructions":["text"],"self-harm":["text"],"sexual/minors":["text"],"violence":["text"],"violence/graphic":["text"]}}]}},"usage":null,"obfuscation":"a6uUJSBjSJfQr"}

data: [DONE]

"""


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(SENT)))
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


async def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    client = OpenAIChatCompletionClient(
        model="gpt-5",
        base_url=url,
        api_key="key",
        max_retries=0,
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": True,
            "structured_output": True,
            "family": ModelFamily.UNKNOWN,
        },
    )
    moderation = {"moderation": {"model": "omni-moderation-latest"}}
    messages = [UserMessage(content="Hi", source="user")]
    asked = client.create_stream(messages, include_usage=True, extra_create_args=moderation)
    results = [item async for item in asked if isinstance(item, CreateResult)]
    result = results[-1]
    return f"usage {result.usage}", result.usage.prompt_tokens == 0


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = asyncio.run(call(f"http://127.0.0.1:{server.server_port}"))
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "usage with 18 and 82 tokens, then a chunk without usage")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
