"""The anthropic library of 2025-01: what `messages.stream` and its `get_final_message` say of a text.

For `python -m peers.rediscovery`; `anthropic/adapter.py` reads what these releases do not have.
"""

import anthropic

FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class Adapter:
    """Texts of Claude with their citations, streamed."""

    name = "anthropic"
    version = anthropic.__version__
    providers = ("anthropic:messages",)
    capabilities = ("streaming", "annotations", "provenance", "raw_finish", "usage_details", "error_details")

    def stream(self, call):
        """Yield a streamed answer."""
        client = anthropic.Anthropic(
            base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0
        )
        asked = {"max_tokens": 4096, **call.params, "model": call.model, "messages": list(call.messages)}
        with client, client.messages.stream(**asked) as stream:
            for event in stream:
                if event.type == "text":
                    yield {"event_type": "response.output_text.delta", "delta": event.text}
            yield {"event_type": "response.completed", "response": _answer(stream.get_final_message(), call)}


def _answer(message, call):
    text, annotations = "", []
    for block in message.content:
        span = {"start": len(text), "end": len(text) + len(block.text)}
        annotations += [{**span, "data": _fields(each)} for each in block.citations or ()]
        text += block.text
    return {
        "id": message.id,
        "provider": call.provider,
        "model": message.model,
        "message": text,
        "annotations": annotations,
        "usage": None,
        "finish_reason": FINISH.get(message.stop_reason),
        "raw_finish_reason": message.stop_reason,
    }


def _fields(citation):
    return citation if isinstance(citation, dict) else citation.to_dict()


conformance_adapter = Adapter()
