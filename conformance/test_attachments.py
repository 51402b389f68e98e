"""ATT: audio in an answer comes back as an attachment, complete and in its place."""

from __future__ import annotations

from llm_conformance.contract import Attachment
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import expect_equal, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_FIELDS = ("id", "type", "data", "url", "transcript", "expires_at")


def _states_attachments(expected: Expected, _mode: Mode) -> bool:
    return "attachments" in expected.stated


@rule("ATT-1", harm="lost", capability="audio", when=_states_attachments)
def test_audio_is_an_attachment(exchange: Exchange) -> None:
    """Audio is an attachment with its id, type, bytes, transcript and expiry; its `text_index` is in the message.

    Without the bytes nothing can be played, and without the transcript nothing can be shown. Streamed audio comes in
    pieces that join to the same bytes. Audio is never an annotation. A data URL says what `data` says. Some servers
    send an `audio` object whose fields are all empty: it is no attachment.

    Source: S2-15, S2-17, S2-18, C-01.
    """
    attachments = exchange.response.attachments
    expect_equal("the number of attachments", len(attachments), len(exchange.expected.attachments))
    for number, (actual, expected) in enumerate(zip(attachments, exchange.expected.attachments, strict=True)):
        where = f"attachment {number}"
        for name in _FIELDS:
            if name in expected:
                value = _data(actual) if name == "data" else getattr(actual, name)
                expect_equal(name, value, expected[name], where=where)
        length = len(exchange.response.message)
        if actual.text_index is not None and not 0 <= actual.text_index <= length:
            fail(f"a text_index from 0 to {length}", str(actual.text_index), where=where)
    no_annotation = "annotations" in exchange.expected.stated and not exchange.expected.annotations
    if no_annotation and exchange.response.annotations:
        fail("audio as an attachment only", "an annotation as well")


def _data(attachment: Attachment) -> str | None:
    """Return the base64 of an attachment; its URL may have it, as some providers send it."""
    head, _, base64 = (attachment.url or "").partition(";base64,")
    return base64 if attachment.data is None and head.startswith("data:") else attachment.data
