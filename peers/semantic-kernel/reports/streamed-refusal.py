"""semantic-kernel 1.45.0: the text of a refusal in a stream of OpenAI's is not in the message.

Exit code 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import asyncio
import http.server
import sys
import threading
import traceback

from openai import AsyncOpenAI
from pydantic import BaseModel
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory

HEAD = b'{"id":"chatcmpl-CEEj0M284d0C9UVv5DbFJRMAp6Ocn","object":"chat.completion.chunk","created":1757509230,\
"model":"gpt-4o-2024-08-06","choices":'
CHOICES = (
    b'[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"finish_reason":null}]',
    b'[{"index":0,"delta":{"refusal":"I cannot help with that."},"finish_reason":null}]',
    b'[{"index":0,"delta":{},"finish_reason":"stop"}]',
)
BODY = b"".join(b"data: " + HEAD + each + b"}\n\n" for each in CHOICES) + b"data: [DONE]\n\n"


class Steps(BaseModel):
    """The form of the answer: OpenAI has `refusal` for structured outputs."""

    steps: list[str]


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *args):
        """Print nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


async def main():
    """Return the exit code."""
    client = AsyncOpenAI(api_key="key", base_url=URL, max_retries=0)
    service = OpenAIChatCompletion("gpt-4o-2024-08-06", async_client=client)
    history = ChatHistory()
    history.add_user_message("How do I pick this lock?")
    settings = OpenAIChatPromptExecutionSettings(response_format=Steps)
    whole = None
    async for piece in service.get_streaming_chat_message_content(history, settings):
        whole = piece if whole is None else whole + piece
    print(f"seen: content {whole.content!r}, finish reason {whole.finish_reason}")
    print("sent: the refusal 'I cannot help with that.'; expected: its text, as in a plain answer")
    return 0 if "cannot help" in whole.content else 1


try:
    code = asyncio.run(main())
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
