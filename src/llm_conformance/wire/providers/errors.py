"""The errors that an API is known to send, either instead of an answer or inside of a stream.

Their bodies are templates in JSON. The texts `$message`, `$type`, `$code` and `$status` stand for the parts of the
error. `$param`, `$id`, `$model`, `$created` and `$number` stand for values that differ from answer to answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_conformance.wire.interaction import Mode

MESSAGE = "$message"
PLACEHOLDERS = frozenset({MESSAGE, "$type", "$code", "$status", "$param", "$id", "$model", "$created", "$number"})
"""The texts that stand for a value in a template."""

StreamPlace = Literal["before the finish", "first", "behind the finish"]


@dataclass(frozen=True, eq=False)
class StatusError:
    """An error with which an API answers a request.

    Attributes:
        status: The HTTP status; 200 for an error in a response that looks like a success.
        source: Where the error was seen: a scenario, a URL, or a measurement over recordings.
        type: The value of `type` in the error body; "" if there is none.
        code: The value of `code`. If `Api.error_code` is `number`, the default is the status.
        body: The template of its body; the default is `Api.error_body`.
        headers: Headers of the response.
        retry_after: Whether the response may have the header Retry-After.
        mode: The mode of the requests that may get it; None for both modes.
        means: With status 200, the status that the error stands for; 0 if it stands for none.
        backend: The one backend of the API that sends it; "" for any.
    """

    status: int
    source: str
    type: str = ""
    code: str | int | None = None
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    retry_after: bool = False
    mode: Mode | None = None
    means: int = 0
    backend: str = ""

    def __str__(self) -> str:
        """Return the status, and the provider's word for the error if there is one."""
        return f"{self.status} {self.type or self.code or ''}".strip()

    def answers(self, mode: Mode) -> bool:
        """Return True if a request of this mode may get it."""
        return self.mode in (None, mode)


@dataclass(frozen=True, eq=False)
class StreamError:
    """An error inside of a stream.

    Attributes:
        data: The template of the error's data.
        source: Where the error was seen.
        event: The name of the event; "" if it has none.
        then: The data of the frames that follow.
        place: Where in the stream the error comes: anywhere before the finish word, as the first frame, or after the
            finish word.
        framed: Whether the error is in a frame. If not, it is plain JSON between the frames.
        means: The status that the error stands for; 0 if it stands for none.
        backend: The one backend of the API that sends it; "" for any.
    """

    data: str
    source: str
    event: str = ""
    then: tuple[str, ...] = ()
    place: StreamPlace = "before the finish"
    framed: bool = True
    means: int = 0
    backend: str = ""

    def __str__(self) -> str:
        """Return the name of the event and the status that it stands for, if there are any."""
        return f"{self.event or 'error'} {self.means or 'without a status'}{'' if self.framed else ', not framed'}"


def filled(template: str, values: Mapping[str, Any]) -> Any:
    """Fill a template; return its JSON value. A placeholder without a value becomes null."""
    return _filled(json.loads(template), values)


def fits(template: Any, actual: Any) -> bool:
    """Return True if a JSON value fits a filled template. Placeholders that are left fit any value.

    Objects may have further keys, and may lack those that are null. The message must not be missing.
    """
    if isinstance(template, str) and template in PLACEHOLDERS:
        return template != MESSAGE or actual is not None
    if isinstance(template, Mapping):
        return isinstance(actual, Mapping) and all(fits(value, actual.get(key)) for key, value in template.items())
    if isinstance(template, list):
        same_length = isinstance(actual, list) and len(actual) == len(template)
        return same_length and all(map(fits, template, actual))
    return type(template) is type(actual) and bool(template == actual)


def placeholders(template: Any) -> Iterable[str]:
    """Yield all texts in a template that begin with `$`."""
    if isinstance(template, Mapping):
        template = list(template.values())
    if isinstance(template, list):
        for item in template:
            yield from placeholders(item)
    elif isinstance(template, str) and template.startswith("$"):
        yield template


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, Mapping):
        return {key: _filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    return values.get(template) if isinstance(template, str) and template in PLACEHOLDERS else template
