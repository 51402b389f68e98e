"""The sources that Anthropic's answers cite: places in documents, in search results of the request and in web pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from llm_conformance.generate.answers import Citation

Fields = dict[str, Any]

_DOCUMENTS: dict[str, Fields] = {
    "char_location": {"type": "text", "media_type": "text/plain", "data": "what is cited"},
    "page_location": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"},
    "content_block_location": {"type": "content", "content": [{"type": "text", "text": "what is cited"}]},
}
"""Maps a kind of cited place to the source of its document, in the order of the documents in a request."""
WEB_PAGE = "web_search_result_location"
PLACES = (*_DOCUMENTS, "search_result_location", WEB_PAGE)
"""The kinds of cited places that a generator can write."""


def cited_place(kind: str, citation: Citation) -> Fields:
    """Return a cited place. Its offsets count in the cited source, not in the message."""
    place: Fields = {"type": kind, "cited_text": "what is cited"}
    if kind == WEB_PAGE:
        url = f"https://example.org/{citation.start}"
        return {**place, "url": url, "title": "Found", "encrypted_index": f"index{citation.end}"}
    counted = "block" if kind == "search_result_location" else kind.removesuffix("_location").replace("content_", "")
    unit = f"{counted}_number" if kind == "page_location" else f"{counted}_index"
    bounds = {f"start_{unit}": citation.start, f"end_{unit}": citation.end}
    if kind == "search_result_location":
        source = _search_result(citation.number)["source"]
        return {**place, "source": source, "title": "Found", "search_result_index": citation.number, **bounds}
    return {**place, "document_index": [*_DOCUMENTS].index(kind), "document_title": None, **bounds}


def sources(cited: Iterable[tuple[str, Citation]]) -> Iterator[Fields]:
    """Yield the parts of a message with the cited sources; `cited` are (kind of place, citation)."""
    cited = list(cited)
    documents = [kind for kind, _ in cited if kind in _DOCUMENTS]
    last = max(map([*_DOCUMENTS].index, documents), default=-1)
    for source in [*_DOCUMENTS.values()][: last + 1]:
        yield {"type": "document", "source": source, "citations": {"enabled": True}}
    results = max((citation.number + 1 for kind, citation in cited if kind == "search_result_location"), default=0)
    yield from map(_search_result, range(results))


def _search_result(number: int) -> Fields:
    return {
        "type": "search_result",
        "source": f"https://example.org/{number}",
        "title": "Found",
        "content": [{"type": "text", "text": "what is cited"}],
        "citations": {"enabled": True},
    }
