"""semantic-kernel 1.45.0: the image of a message is not sent to Claude.

Exit code 1 while the fault shows, 0 when it is mended, 2 if something else went wrong.
"""

import asyncio
import http.server
import json
import sys
import threading
import traceback

from anthropic import AsyncAnthropic
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion, AnthropicChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory, ChatMessageContent, ImageContent, TextContent

BODY = b"""{
  "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
  "type": "message",
  "role": "assistant",
  "model": "claude-sonnet-4-5-20250929",
  "content": [{"type": "text", "text": "I see no image."}],
  "stop_reason": "end_turn",
  "stop_sequence": null,
  "usage": {"input_tokens": 14, "output_tokens": 6}
}
"""
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SENT = []


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes above."""

    def do_POST(self):
        """Send them."""
        SENT.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
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
    settings = AnthropicChatPromptExecutionSettings(max_tokens=100)
    image = ImageContent(data=PNG, data_format="base64", mime_type="image/png")
    message = ChatMessageContent(role="user", items=[TextContent(text="What is this?"), image])
    await service.get_chat_message_content(ChatHistory(messages=[message]), settings)
    (request,) = SENT
    print(f"seen: the request has the messages {request['messages']}")
    print("asked: a text and an image; expected: both, or an exception")
    return 0 if PNG in json.dumps(request) else 1


try:
    code = asyncio.run(main())
except Exception:
    traceback.print_exc()
    code = 2
sys.exit(code)
