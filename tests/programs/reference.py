"""The reference adapters as a program that speaks the line protocol, as one in another language would."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from adapters import ReferenceAdapters
from llm_conformance.contract import Annotation, Attachment, Call, LLMError, Response, Segment, ToolCall, Usage
from llm_conformance.contract.values import plain

ADAPTER = ReferenceAdapters()


def replies(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if request["op"] == "describe":
        yield {"name": "program", "version": "1", "providers": sys.argv[1:], "capabilities": ADAPTER.capabilities}
        return
    call = Call(**request["call"] | {"messages": tuple(map(_message, request["call"]["messages"]))})
    try:
        if request["op"] == "complete":
            yield {"response": ADAPTER.complete(call).to_dict()}
        else:
            for event in ADAPTER.stream(call):
                yield {"event": event.to_dict()}
            yield {"done": True}
    except LLMError as error:
        origin = error.original_error or error.__cause__
        yield {"error": {**plain(error.to_dict()), "original_error": origin and repr(origin)}}


def _message(message: dict[str, Any]) -> Any:
    """Return a message. An earlier response of the adapter comes as its JSON."""
    if "role" in message:
        return message
    kinds = {"segments": Segment, "annotations": Annotation, "attachments": Attachment, "tool_calls": ToolCall}
    values = {name: tuple(kind(**each) for each in message[name]) for name, kind in kinds.items()}
    return Response(**message | values | {"usage": message["usage"] and Usage(**message["usage"])})


for line in sys.stdin:
    for reply in replies(json.loads(line)):
        print(json.dumps(reply), flush=True)
