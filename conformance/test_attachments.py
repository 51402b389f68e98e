"""ATT: audio in an answer is an attachment, whole and in its place."""

from __future__ import annotations

from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import expect_equal, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_FIELDS = ("id", "type", "data", "url", "transcript", "expires_at")


def _says_which(expected: Expected, _mode: Mode) -> bool:
    return "attachments" in expected.stated


@rule("ATT-1", capability="audio", when=_says_which)
def test_audio_is_an_attachment(exchange: Exchange) -> None:
    """Audio keeps id, type, bytes, transcript and expiry; it is an attachment, and `text_index` lies in the message.

    Streamed audio comes in pieces that join to the same bytes. It is never an annotation, and its transcript stays with
    it. Where there is none, nothing comes back: some servers send an `audio` whose fields are all empty (S2-15, S2-17,
    S2-18, C-1).
    """
    attachments = exchange.response.attachments
    expect_equal("the number of attachments", len(attachments), len(exchange.expected.attachments))
    for number, (actual, expected) in enumerate(zip(attachments, exchange.expected.attachments, strict=True)):
        where = f"attachment {number}"
        for name in _FIELDS:
            if name in expected:
                expect_equal(name, getattr(actual, name), expected[name], where=where)
        if actual.text_index is not None and not 0 <= actual.text_index <= len(exchange.response.message):
            fail("a text_index in the message", str(actual.text_index), where=where)
    none = "annotations" in exchange.expected.stated and not exchange.expected.annotations
    if none and exchange.response.annotations:
        fail("audio among the attachments only", "an annotation too")
