"""Where an adapter's exception comes from: its traceback without the suite's own frames, and its cause."""

from __future__ import annotations

import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.calling.exceptions.facts import text_or_reason
from llm_conformance.calling.without_values import without_values
from llm_conformance.compare import encodable
from llm_conformance.locations import PACKAGE, ROOT

_FIRST_FRAMES, _LAST_FRAMES = 8, 16
"""How many frames of a long traceback are shown, at its start and at its end."""
_MOST_CHAINED = 4
_LONGEST_MESSAGE = 500

_HELPERS = frozenset(
    {
        *("aiohttp", "anyio", "attr", "backoff", "botocore", "certifi", "h11", "h2", "httpcore", "httpx", "jsonschema"),
        *("pydantic", "pydantic_core", "requests", "sniffio", "tenacity", "urllib3", "vcr", "yarl"),
    }
)
"""Packages that raise on behalf of their callers. The caller's frame says more than a frame of such a package."""

_STANDARD_LIBRARY = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib"))


def class_and_place(error: BaseException) -> str:
    """Return a text that exceptions with the same cause share: the class, and the place of the code that raised.

    Examples are `KeyError in mypkg/decode.py:31 decode` and `httpx.ReadTimeout in mypkg/call.py:5 ask`. The place is
    the innermost frame outside of Python, the suite and `_HELPERS`. Without such a frame, the text is the class and the
    message. If an exception, except pydantic's, caused this one, the text names both and has the place of the first, as
    in `httpx.ReadTimeout from TimeoutError in mypkg/call.py:5 ask`.
    """
    *_, root = _chain(error)
    if root is not error and not _is_of_pydantic(root):
        return f"{_class_of(error)} from {type(root).__name__}{_place_of(root)}"
    return _class_of(error) + _place_of(error)


def place_in(dump: str) -> str:
    """Return the adapter's innermost frame in the output of `faulthandler`, as `adapter.py:12 in parse`; "" if none."""
    for filename, line, function in re.findall(r'^  File "(.+)", line (\d+) in (.+)$', dump, re.MULTILINE):
        if not _is_of_a_helper(filename):
            return f"{_shown(filename)}:{line} in {function}"
    return ""


def _place_of(error: BaseException) -> str:
    """Return ` in FILE:LINE FUNCTION`, or `: MESSAGE` if all frames are Python's, the suite's or of `_HELPERS`."""
    own = [frame for frame in _frames(error) if not _is_of_a_helper(frame.filename)]
    if not own:
        return f": {without_values(_text(error))}"
    field = next(filter(None, map(_invalid_field, _chain(error))), "")
    return f" in {_shown(own[-1].filename)}:{own[-1].lineno} {own[-1].name}{field}"


def _class_of(error: BaseException) -> str:
    """Return the class with the package that defines it (`httpx.ReadTimeout`); of Python's own, only the class."""
    package, name = _package_of(error), type(error).__name__
    return name if package in sys.stdlib_module_names else f"{package}.{name}"


def _package_of(error: BaseException) -> str:
    return str(type(error).__module__).partition(".")[0]  # a class may set it to anything


def _is_of_pydantic(error: BaseException) -> bool:
    return _package_of(error) in ("pydantic", "pydantic_core")


def _invalid_field(error: BaseException) -> str:
    """Return the first field that a pydantic error names, because a library may validate everything in one place."""
    if not _is_of_pydantic(error):
        return ""
    try:
        first: Any = error.errors()[0]  # type: ignore[attr-defined]
        path = ".".join("N" if isinstance(part, int) else str(part) for part in first["loc"])
        return f", {path}: {first['type']}"
    except Exception:  # another version of pydantic, or another class
        return ""


def traceback_of(error: BaseException) -> str:
    """Return the traceback as Python prints it, with the exceptions behind it.

    It begins with the adapter's first frame.
    """
    parts: list[str] = []
    for number, link in enumerate(_chain(error)):
        if number:
            parts.insert(0, "Then:\n")
        parts.insert(0, "".join(_lines(link)))
    return encodable(secrets.hide("\n".join(part.rstrip("\n") for part in parts)))


def _lines(error: BaseException) -> Iterator[str]:
    frames = _frames(error)
    left_out = len(frames) - _FIRST_FRAMES - _LAST_FRAMES
    if frames:
        yield "Traceback (most recent call last):\n"
    if left_out > 0:
        yield from traceback.format_list(list(frames[:_FIRST_FRAMES]))
        yield f"  ... {left_out} frames ...\n"
        frames = frames[-_LAST_FRAMES:]
    yield from traceback.format_list(list(frames))
    yield f"{type(error).__name__}: {_text(error)}\n"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and up to three exceptions behind it, each once, the innermost last."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < _MOST_CHAINED:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _frames(error: BaseException) -> Sequence[traceback.FrameSummary]:
    """Return the frames, beginning with the first frame that is neither the suite's nor Python's."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((at for at, frame in enumerate(frames) if _is_foreign(frame.filename)), len(frames))
    return frames[first:]


def _is_foreign(filename: str) -> bool:
    path = Path(filename)
    if path.is_relative_to(PACKAGE) and not path.is_relative_to(PACKAGE / "adapters"):
        return False  # in a wheel, the reference adapters are in the package
    return "site-packages" in filename or not filename.startswith((*_STANDARD_LIBRARY, "<frozen "))


def _is_of_a_helper(filename: str) -> bool:
    if not _is_foreign(filename):
        return True
    _, found, below = filename.replace("\\", "/").rpartition("site-packages/")
    return bool(found) and below.partition("/")[0] in _HELPERS


def _shown(filename: str) -> str:
    """Return a path.

    If it is below the environment's packages or the working directory, it is relative to that folder.
    """
    _, found, below = filename.replace("\\", "/").rpartition("site-packages/")
    if found:
        return below
    path = Path(filename)
    for base in (Path.cwd(), ROOT):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return "/".join(path.parts[-2:])


def _text(error: BaseException) -> str:
    text = text_or_reason(str, error)
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]} ..."
