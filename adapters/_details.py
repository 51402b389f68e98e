"""`reasoning_details`: in this field, gateways repeat the reasoning with the opaque data that the next request needs.

https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.contract import Call, Response, StreamEvent

from ._answer import Answer

_SEALS = {"signature": "signature", "data": "encrypted"}
_TEXTS = ("text", "summary")


class Details:
    """Collects the details of a response. In a stream, details with the same type and index are pieces of one detail.

    Opaque data ends the reasoning block before it. More reasoning begins a new block.
    """

    def __init__(self, answer: Answer) -> None:
        self.in_pieces = answer.call.stream
        self._answer = answer
        self._sealed = 0

    def feed(self, reasoning: str, details: Sequence[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """Take the reasoning and the details of a message or a delta. Text that is in both is added once."""
        in_details = not reasoning or "".join(map(text_of, details)) == reasoning
        if not in_details:
            yield from self._answer.reasoning(reasoning, self._key)
        for detail in details:
            if in_details:
                yield from self._answer.reasoning(text_of(detail), self._key)
            self._seal(detail)
            self._keep(detail)

    @property
    def _key(self) -> object:
        return "native", self._sealed

    def _seal(self, detail: Mapping[str, Any]) -> None:
        """Put opaque data on the reasoning block before it, or on an empty block if that block already has data."""
        for name, kind in _SEALS.items():
            if detail.get(name):
                self._answer.block("reasoning", self._key).metadata[kind] = detail[name]
                self._sealed += 1

    def _keep(self, detail: Mapping[str, Any]) -> None:
        """Keep a whole detail, because the next request has to send it back."""
        kept = self._answer.extras.setdefault("reasoning_details", [])
        last = kept[-1] if kept else {}
        goes_on = (
            last and all(last.get(name) == detail.get(name) for name in ("type", "index")) and "data" not in detail
        )
        if not (self.in_pieces and goes_on):
            kept.append(dict(detail))
            return
        for name, value in detail.items():
            if name in _TEXTS:
                last[name] = (last.get(name) or "") + (value or "")
            elif value:
                last[name] = value


def text_of(detail: Mapping[str, Any]) -> str:
    """Return the visible reasoning of a detail."""
    return "".join(detail.get(name) or "" for name in _TEXTS)


def details_round_trip(response: Response, call: Call) -> Mapping[str, Any]:
    """Return an earlier response's details unaltered. If it has no details, return its reasoning."""
    details = (response.extras.get(call.provider) or {}).get("reasoning_details")
    if details:
        return {"reasoning_details": details}
    return {"reasoning": response.reasoning} if response.reasoning else {}
