"""A stream of audio raises an error at its end.

OpenAI can end a stream of audio with `[DONE]`, without a `finish_reason` in a chunk (https://github.com/openai/openai-node/issues/1206 has a stream as captured). LiteLLM raises `MidStreamFallbackError` (`Stream ended before a finish_reason was received`) after the audio; the chunk with the usage, which the request asks for, does not come.

Install litellm 1.109.1, then run this file. Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
"""

import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # so that it asks nobody else

import litellm

litellm.disable_hf_tokenizer_download = True

SENT = b"""\
data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio_e4aa3abe3e54a29da76a2a7d680c3914"}},"finish_reason":null}],"usage":null,"obfuscation":"4DomyV20"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"Es ist k"}},"finish_reason":null}],"usage":null,"obfuscation":"D5zLTMEjjLswW"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"AADbA4MH0gqpDewPhRFoEowS8xGmELUONAxACfgFfwL5/or7VPh49RHzNvH472Lvdu8z8I3xdPPU9ZL4kfux/tIB1ASaBwYKAwx+DWoOwA5+DqoNTwx9CkgI"}},"finish_reason":null}],"usage":null,"obfuscation":"8BLMPBX"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"urz n"}},"finish_reason":null}],"usage":null,"obfuscation":"IYUSLNP7NsbH"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"yQUaA1cAnv0J+7L4sPYW9fLz"}},"finish_reason":null}],"usage":null,"obfuscation":"v0YMfe"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"T/Mv85LzcfTB9XP3c/ms+wX+ZgC3At8EywZoCKYJfAriCtgKYAqBCUYIvwb9BBIDFAEX/zD9cvvt+a/4xPcz9//2J/ep93z4lfno+mX8+/2a/zABrwIGBCkFDwawBgcHFAfZBlkGngWwBJsDbAIvAfL/w/6s/bj88Pta+/r60vrg+iP7"}},"finish_reason":null}],"usage":null,"obfuscation":"p9pLrGRfnXI"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"transcript":"ach zw\xc3\xb6lf."}},"finish_reason":null}],"usage":null,"obfuscation":"anYH5"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"data":"lPst/Ob8tf2R/m//RwAQAcIBVwLLAhoDQwNHAykD6wKTAicCrQEsAakALAC5/1b/Bf/J/qL+kf6U/qn+y/74/iz/Yf+U/8H/5f///wsADAA="}},"finish_reason":null}],"usage":null,"obfuscation":"yFcmtmc6cU"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[{"index":0,"delta":{"audio":{"expires_at":1757941232}}}],"usage":null,"obfuscation":"2Pz9"}

data: {"id":"chatcmpl-CG2Aojgra2L2DcnXtCx0PCWFLx5Um","object":"chat.completion.chunk","created":1757937638,"model":"gpt-4o-audio-preview-2025-06-03","service_tier":"default","system_fingerprint":"fp_005a2865ed","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":41,"total_tokens":59,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0,"text_tokens":18,"image_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":30,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0,"text_tokens":11}},"obfuscation":"R9Ofjz86n"}

data: [DONE]

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


def call(url):
    """Call the library as its documentation shows; return what is seen, and whether that is the fault."""
    try:
        chunks = list(
            litellm.completion(
                model="openai/gpt-4o-audio-preview",
                messages=[{"role": "user", "content": "Hi"}],
                modalities=["text", "audio"],
                audio={"voice": "verse", "format": "pcm16"},
                api_base=url,
                api_key="key",
                stream=True,
                stream_options={"include_usage": True},
            )
        )
    except litellm.exceptions.MidStreamFallbackError as error:
        return str(error)[:120], True
    counts = [usage.total_tokens for chunk in chunks if (usage := getattr(chunk, "usage", None))]
    return f"{len(chunks)} chunks, total tokens {counts}", not counts


def main():
    """Start the provider, call the library, say what is seen and what was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen, wrong = call(f"http://127.0.0.1:{server.server_port}")
    except Exception:
        traceback.print_exc()
        return 2
    print("seen:", seen, "| sent:", "a whole answer with audio, then [DONE]")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
