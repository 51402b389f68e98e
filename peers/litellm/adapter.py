"""The litellm library: `completion`, sync, whole and with `stream=True`, folded by its own `stream_chunk_builder`.

Each provider is asked under its documented prefix, with `api_base` for the URL; the library knows more providers than
those listed here. An earlier answer goes back as the library's message
(`messages.append(response.choices[0].message)`). The citations of Claude are taken from
`provider_specific_fields["citations"]`, as documented. The place of a citation is that of its `supported_text`;
citations of streams have no such text.

Not to be said: tools and parts of a message whose type the library refuses, parameters that it refuses
(`UnsupportedParamsError`), and Claude's `fallbacks`, whose name is a parameter of the library's own.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its retries would outlast `call.timeout_s`. The
settings keep it from asking anybody else: its lists of prices and of beta headers are those that it brings along, and
it downloads no tokenizer. It would guess token counts with one; offline, the download outlasts the limit.
"""

import os
from importlib.metadata import version

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")

import litellm
from litellm.types.llms.openai import ValidUserMessageContentTypes

from llm_conformance.shims import chat
from llm_conformance.shims.native import turns

litellm.disable_hf_tokenizer_download = True

PREFIXES = {
    **{"openai:chat": "openai", "anthropic:messages": "anthropic", "deepseek:chat": "deepseek", "groq:chat": "groq"},
    **{"local:chat": "hosted_vllm"},
}
REASONING = ("reasoning_content",)
ERRORS = {"Timeout": "TimeoutError", "APIConnectionError": "ServiceUnavailableError"}


class Adapter:
    """Completions, whole and streamed."""

    name = "litellm"
    version = version("litellm")
    providers = tuple(PREFIXES)
    capabilities = (
        *("streaming", "reasoning", "annotations", "audio", "tools", "round_trip", "errors"),
        *("lost_connections", "incomplete_streams"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        return _answer(_ask(call), call)

    def stream(self, call):
        """Yield a streamed answer."""
        # If the API has no `stream_options`, the library has this option of its own, and gives usage only with it.
        own = {} if call.path == "/chat/completions" else {"stream_options": {"include_usage": True}}
        chunks = []
        for chunk in _ask(call, stream=True, **own):
            chunks.append(chunk)
            for choice in (each for each in chunk.choices if each.index == 0):
                yield from chat.deltas(choice.delta, reasoning=REASONING)
        whole = litellm.stream_chunk_builder(chunks, messages=turns(call))
        yield {"event_type": "response.completed", "response": _answer(whole, call)}


def _ask(call, **said):
    prefix = PREFIXES[f"{call.provider}:{call.api}"]
    params = {**call.params, **said}
    if call.provider == "anthropic" and "tool_choice" in params:
        params["tool_choice"] = chat.tool_choice(params["tool_choice"])
    _refuse(call)
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    try:
        return litellm.completion(
            model=f"{prefix}/{call.model}",
            messages=turns(call),
            api_base=call.base_url,
            api_key=call.api_key,
            timeout=call.timeout_s,
            max_retries=0,
            **params,
        )
    except litellm.UnsupportedParamsError as error:  # raised before anything is sent
        raise NotImplementedError(str(error)) from error


def _refuse(call):
    """Raise NotImplementedError for what the library has no way to say."""
    if "fallbacks" in call.params:
        raise NotImplementedError("`fallbacks` is a parameter of the library's own")
    for tool in call.params.get("tools", ()):
        if "toolset" in tool.get("type", ""):
            raise NotImplementedError(f"the library does not know tools of the type {tool['type']}")
    for said in call.messages:
        for part in said["content"] if said.get("role") == "user" and isinstance(said["content"], list) else ():
            if part.get("type") not in ValidUserMessageContentTypes:
                raise NotImplementedError(f"the library takes no parts of the type {part.get('type')!r} from a user")


def _answer(response, call):
    made = chat.answer(response, call, reasoning=REASONING)
    choice = response.choices[0]
    own = getattr(choice, "provider_specific_fields", None) or {}
    made["raw_finish_reason"] = own.get("native_finish_reason") or choice.finish_reason
    made["annotations"] += _citations(choice.message)
    return made


def _citations(message):
    fields = message.provider_specific_fields or {}
    yield from map(chat.annotation, fields.get("annotations") or ())
    at = 0
    for block in fields.get("citations") or ():
        for each in block if isinstance(block, list) else ():
            data = dict(each)
            text = data.pop("supported_text", "")
            start = (message.content or "").find(text, at) if text else -1
            if start < 0:
                yield {"start": None, "end": None, "data": data}
            else:  # several citations of one block follow each other
                at = start
                yield {"start": start, "end": start + len(text), "data": data}


conformance_adapter = Adapter
