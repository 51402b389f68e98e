"""semantic-kernel 1.45.0: an answer of Claude's that ends at a stop sequence raises KeyError.

Exit code 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import asyncio
import http.server
import sys
import threading
import traceback

from anthropic import AsyncAnthropic
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion, AnthropicChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory

BODY = b"""{
  "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
  "type": "message",
  "role": "assistant",
  "model": "claude-sonnet-4-5-20250929",
  "content": [{"type": "text", "text": "One, two, "}],
  "stop_reason": "stop_sequence",
  "stop_sequence": "three",
  "usage": {"input_tokens": 14, "output_tokens": 6}
}
"""


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    def do_POST(self):
        """Send them."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
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
    client = AsyncAnthropic(api_key="key", base_url=URL, max_retries=0)
    service = AnthropicChatCompletion("claude-sonnet-4-5", api_key="key", async_client=client)
    settings = AnthropicChatPromptExecutionSettings(max_tokens=100, stop_sequences=["three"])
    history = ChatHistory()
    history.add_user_message("Count to five.")
    try:
        message = await service.get_chat_message_content(history, settings)
    except KeyError as error:
        print(f"seen: KeyError: {error}")
        print("sent: 'One, two, ' with the stop reason stop_sequence; expected: that message")
        return 1
    print(f"mended: {message.content!r}, {message.finish_reason}")
    return 0 if message.content == "One, two, " else 2


try:
    code = asyncio.run(main())
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
