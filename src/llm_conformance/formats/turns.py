"""The turns of a request, in a form that does not depend on the wire format.

Two requests say the same if their turns are equal. It makes no difference how texts are split into parts or messages,
or how JSON is spaced. Turns have no reasoning, because each format has it in a different place.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.compare import as_json
from llm_conformance.formats.media import medium_of


@dataclass(frozen=True)
class Turn:
    """One text, file, tool call or tool result of a message.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`; `documents` for documents outside of the messages.
        kind: `text`, `call`, `result`, the kind of a medium, or `part`, `item` or `step` for anything else.
        content: A text, the content of a medium, or the parts of a call or a result; for anything else, often its type.
        id: The id of a call, or of the call to which a result belongs; None if the format has no ids.
    """

    role: str
    kind: str
    content: Any
    id: Any = None

    def __str__(self) -> str:
        """Return the turn as failures show it, in about 300 characters at most."""
        content = self.content if self.id is None else [self.id, self.content]
        text = json.dumps(content, ensure_ascii=False, default=repr)
        return f"{self.kind} of {self.role}: {text if len(text) <= 300 else f'{text[:300]} ...'}"


def joined(turns: Iterable[Turn]) -> list[Turn]:
    """Drop empty turns, and join texts of one role that follow each other."""
    not_empty = (turn for turn in turns if turn.kind in ("call", "result") or turn.content not in ("", None))
    result: list[Turn] = []
    for (role, kind), group in itertools.groupby(not_empty, key=lambda turn: (turn.role, turn.kind)):
        if kind == "text":
            result.append(Turn(role, kind, "".join(str(turn.content) for turn in group)))
        else:
            result += group
    return result


def since_compaction(turns: Iterable[Turn]) -> list[Turn]:
    """Return the system turns, and the other turns from the last compaction on.

    A compaction replaces everything that was said before it. The provider ignores earlier turns, and callers may omit
    them: <https://platform.claude.com/docs/en/build-with-claude/compaction>,
    <https://platform.openai.com/docs/guides/compaction>.
    """
    kept: list[Turn] = []
    for turn in turns:
        if turn.kind in ("part", "item") and turn.content == "compaction":
            kept = [each for each in kept if each.role == "system"]
        kept.append(turn)
    return kept


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; an empty list for anything that is not a list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def text_turns(role: str, content: Any) -> Iterator[Turn]:
    """Yield the turns of a message's content, which is a text or a list of parts. Thinking parts are left out."""
    if isinstance(content, str):
        yield Turn(role, "text", content)
    for part in objects(content):
        if part.get("type") == "thinking":
            continue
        text, medium = part.get("text", part.get("refusal")), medium_of(part)
        if isinstance(text, str):
            yield Turn(role, "text", text)
        else:
            yield Turn(role, *medium) if medium else Turn(role, "part", part.get("type"))


def plain_text(content: Any) -> str:
    """Join the text parts of a message's content."""
    return "".join(str(each.content) for each in text_turns("", content) if each.content is not None)


def read_arguments(value: Any) -> Any:
    """Return tool arguments for comparison. A JSON text and a JSON value differ: each format accepts only one of them.

    An empty text counts as no arguments, because providers send it and it may go back unchanged.
    """
    return {"text": as_json(value or "{}")} if isinstance(value, str) else value
