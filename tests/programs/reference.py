"""The reference adapters behind the line protocol, as a program in another language would be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from adapters import ReferenceAdapters
from llm_conformance.contract import Annotation, Attachment, Call, LLMError, Response, Segment, ToolCall, Usage
from llm_conformance.contract.values import plain

ADAPTER = ReferenceAdapters()


def answers(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if question["op"] == "describe":
        yield {"name": "program", "version": "1", "providers": sys.argv[1:], "capabilities": ADAPTER.capabilities}
        return
    call = Call(**question["call"] | {"messages": tuple(map(_message, question["call"]["messages"]))})
    try:
        if question["op"] == "complete":
            yield {"response": ADAPTER.complete(call).to_dict()}
        else:
            for event in ADAPTER.stream(call):
                yield {"event": event.to_dict()}
            yield {"done": True}
    except LLMError as error:
        origin = error.original_error or error.__cause__
        yield {"error": {**plain(error.to_dict()), "original_error": origin and repr(origin)}}


def _message(message: dict[str, Any]) -> Any:
    """Return a message; what the adapter returned for an earlier answer comes back as its JSON."""
    if "role" in message:
        return message
    kinds = {"segments": Segment, "annotations": Annotation, "attachments": Attachment, "tool_calls": ToolCall}
    made = {name: tuple(kind(**each) for each in message[name]) for name, kind in kinds.items()}
    return Response(**message | made | {"usage": message["usage"] and Usage(**message["usage"])})


for line in sys.stdin:
    for answer in answers(json.loads(line)):
        print(json.dumps(answer), flush=True)
