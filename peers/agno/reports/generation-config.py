"""Gemini drops the settings of generation_config.

`Gemini` writes its own fields over those of `generation_config`. A field that was not set is None, so that settings
of the caller such as the temperature and the seed are not sent. The dict of the caller is changed as well. Reported
in https://github.com/agno-agi/agno/issues/10161.

Install agno 3.1.10 and the SDK of the provider, then run this file. Exit code: 1 while the fault shows, 0 when it is
mended, 2 if something else failed.
"""

import json
import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.google import Gemini

SENT = (
    b'{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."}]},"finishReason":"STO'
    b'P"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}}'
)
ASKED = []


class Provider(BaseHTTPRequestHandler):
    """Answer every request with the bytes of the provider."""

    def do_POST(self):
        """Send them."""
        ASKED.append(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(SENT)

    def log_message(self, *args):
        """Say nothing."""


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    config = {"temperature": 0.0, "seed": 7}
    options = {"http_options": {"base_url": url}}
    model = Gemini(id="gemini-2.5-flash", api_key="key", generation_config=config, client_params=options)
    Agent(model=model, system_message="Answer in one word.").run("Hi")
    sent = ASKED[0].get("generationConfig", {})
    wrong = "temperature" not in sent or config != {"temperature": 0.0, "seed": 7}
    return f"generationConfig {sent}, and the keys of the caller's dict are {sorted(config)}", wrong


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "generation_config with temperature 0.0 and seed 7")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
