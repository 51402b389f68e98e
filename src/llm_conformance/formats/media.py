"""Read files, images, sound and search results in a request of any wire format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_KINDS = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio", "audio_url"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("document", "document_url", "file", "file_url", "input_file"), "document"),
    **dict.fromkeys(("inlineData", "fileData"), "document"),  # unless their MIME type says otherwise
    **dict.fromkeys(("search_result", "searchResult"), "search result"),
}
"""Maps the type of a part, or the field with the medium, to the kind of medium."""

MEDIA = frozenset(_KINDS.values())
"""The kinds of media."""

_ABOUT = frozenset(
    {
        *("type", "id", "title", "context", "name", "filename", "displayName", "display_name", "detail"),
        *("format", "media_type", "mimeType", "mime_type", "cache_control", "citations", "videoMetadata"),
    }
)
"""Fields that only describe a medium. Libraries choose names of files and words for their types."""


def medium_of(part: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return (kind of medium, content) of a part of a message; None if the part is not a medium.

    The content is text, data, a URL or an id, without white space. Base64 is in the standard alphabet, without padding,
    and is taken out of its `data:` URL.
    """
    field = next((name for name in (part.get("type"), *part) if isinstance(name, str) and name in _KINDS), None)
    if field is None:
        return None
    inner = part.get(field)
    # Google's APIs accept both spellings.
    mime = (inner.get("mimeType") or inner.get("mime_type")) if isinstance(inner, Mapping) else None
    by_mime = str(mime).partition("/")[0]
    kind = by_mime if by_mime in ("image", "audio", "video") else _KINDS[field]
    return kind, contents(part)


def contents(value: Any) -> str:
    """Return all texts in a value, except for texts that only describe it."""
    return "\n".join(sorted(map(_plain, _texts(value))))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _ABOUT:
                yield from _texts(inner)


def _plain(text: str) -> str:
    data = text.partition(";base64,")[2] if text.startswith("data:") else text
    bare = "".join((data or text).split())
    return bare.rstrip("=").replace("-", "+").replace("_", "/")
