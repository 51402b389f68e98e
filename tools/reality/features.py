"""The features of an answer: its events and blocks, its fields, and the words of fields that take a word from a list.

A feature is a JSON pointer with `*` for each index and the type of each event and block in brackets:
`[content_block_start]/content_block[text]/text`. The feature of a word ends with the word: `/stop_reason = end_turn`.
`formats.toml` says which objects without a type are blocks, too, which fields have words, and in which objects people
choose the names.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from llm_conformance import toml_files
from tools.documents import Document

Kind = Literal["event", "block", "field", "word"]
KINDS: tuple[Kind, ...] = ("event", "block", "field", "word")

_FORMATS = Path(__file__).with_name("formats.toml")
_ALL = "all"
_DEEPEST = 12
_MOST_VALUES = 1_000_000
"""The features of an answer come from this many of its values at most."""
_TAGS = ("type", "event_type")
"""Fields that say which kind of event or block an object is."""
_WORD = re.compile(r"[A-Za-z][\w.-]{0,60}")
_STATUS = "HTTP status"


@dataclass(frozen=True)
class Format:
    """What `formats.toml` says about a wire format."""

    words: frozenset[str]
    free: frozenset[str]
    unions: tuple[str, ...]
    besides: frozenset[str]
    whole: str

    def has_word(self, path: str) -> bool:
        """Return True if a field takes a word from a closed list."""
        steps = _without_types(path).lstrip("/").split("/")
        return any("/".join(steps[-length:]) in self.words for length in (1, 2))

    def tag(self, value: Mapping[str, Any], path: str, in_stream: bool) -> str | None:
        """Return the type of an event or a block; None if the object is neither."""
        own = next((value[key] for key in _TAGS if isinstance(value.get(key), str)), None)
        if own is not None:
            return str(own)
        plain = _without_types(path)
        is_union = any((plain.endswith(each) if each else in_stream and not path) for each in self.unions)
        return "+".join(key for key in value if key not in self.besides) or None if is_union else None


@functools.cache
def of_format(wire: str) -> Format:
    """Read what `formats.toml` says about a wire format. Raises BadFileError."""
    document, _ = toml_files.read(_FORMATS)
    own, common = document.get(wire, {}), document[_ALL]
    return Format(
        words=frozenset((*own.get("words", ()), *common["words"])),
        free=frozenset((*own.get("free", ()), *common["free"])),
        unions=tuple(own.get("unions", ())),
        besides=frozenset(own.get("besides", ())),
        whole=own.get("whole", ""),
    )


def features(documents: Iterable[Document], wire: str) -> set[str]:
    """Return the features of the documents of one answer."""
    form = of_format(wire)
    found: set[str] = set()
    values = ((path, value) for each in documents for path, value in _of_document(each, form))
    for number, (path, value) in enumerate(values):
        if number == _MOST_VALUES:
            break
        if path:
            found.add(path)
        if isinstance(value, str) and _WORD.fullmatch(value) and form.has_word(path):
            found.add(f"{path} = {value}")
    return found


def kind(feature: str) -> Kind:
    """Return the kind of a feature. An event has a type and no path."""
    if " = " in feature:
        return "word"
    if not feature.endswith("]"):
        return "field"
    return "event" if feature.startswith("[") and "/" not in feature else "block"


def above(feature: str) -> Iterator[str]:
    """Yield the features that a feature is part of, the outermost first."""
    if " -> " not in feature:
        yield from (feature[: found.start()] for found in re.finditer(r"/|\[| = ", feature) if found.start())


def _of_document(document: Document, form: Format) -> Iterator[tuple[str, Any]]:
    if document.status >= 400:
        yield f"{_STATUS} = {document.status}", None
    yield from _walk(document.value, form, document.kind == "event")


def _walk(value: Any, form: Format, in_stream: bool, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield each field of a document with its path."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        tag = form.tag(value, path, in_stream)
        own = f"{path}[{tag}]" if tag is not None else path
        yield own, None
        for key, inner in value.items():
            if key in _TAGS and inner == tag:
                continue
            yield f"{own}/{key}", inner
            if key not in form.free or not isinstance(inner, Mapping):
                is_whole = depth == 0 and key == form.whole and tag is not None
                yield from _walk(inner, form, in_stream, f"[...]/{key}" if is_whole else f"{own}/{key}", depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, form, in_stream, f"{path}/*", depth + 1)


def _without_types(path: str) -> str:
    return re.sub(r"\[[^]]*\]", "", path)
