"""ATT: audio and images in an answer come back as attachments, complete and in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Attachment
from llm_conformance.rules.agreement import expect_right_message
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Applies, in_response, rule
from llm_conformance.rules.violation import Blocked, Vacuous, expect_equal, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_SHOWN = in_response("attachments")


def _states_attachments(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "attachments" in expected.stated


def _has_attachments(expected: Expected, _mode: Mode) -> bool:
    return bool(expected.attachments)


def _has_any(*fields: str) -> Applies:
    return lambda expected, _mode: any(field in each for each in expected.attachments for field in fields)


@rule("ATT-1", harm="lost", capability="audio", shown=_SHOWN, when=_states_attachments)
def test_media_are_attachments(exchange: Exchange) -> None:
    """Each audio and each image of the answer is one attachment, with its type and all of its bytes.

    Users can play or see nothing, or only a part of it. Streamed audio comes in pieces, which are joined. A data URL in
    `url` is as good as `data`. Some servers send an `audio` object whose fields are all empty: that is no attachment.

    Source: S2-15, S2-17, C-01.
    """
    actual, expected = exchange.response.attachments, exchange.expected.attachments
    expect_equal("the number of attachments", len(actual), len(expected))
    for attachment, values, where in _pairs(exchange):
        for name in ("type", "data", "url"):
            if name in values:
                value = _data(attachment) if name == "data" else getattr(attachment, name)
                expect_equal(name, value, values[name], where=where)


@rule("ATT-2", harm="lost", capability="audio", shown=_SHOWN, when=_has_any("transcript"))
def test_transcript_is_kept(exchange: Exchange) -> None:
    """An attachment of spoken words has the provider's whole transcript of them.

    Users can hear a spoken answer, but cannot read or search it.

    Source: S2-15.
    """
    _expect_fields(exchange, "transcript")


@rule("ATT-3", harm="refused next turn", capability="audio", shown=_SHOWN, when=_has_any("id", "expires_at"))
def test_media_keep_id_and_expiry(exchange: Exchange) -> None:
    """An attachment has the provider's id, and the time until which the provider keeps it.

    The next turn cannot refer to the audio, or refers to audio that the provider has deleted.

    Source: S2-17.
    """
    _expect_fields(exchange, "id", "expires_at")


@rule("ATT-4", harm="wrong", capability="audio", shown=_SHOWN, when=_has_attachments)
def test_media_are_in_their_place(exchange: Exchange) -> None:
    """`text_index`, if given, is the offset in the message at which the provider sent the media.

    Users get a sound or an image at the wrong place in the text, or after its end. If the scenario does not state the
    place, any offset from 0 to the length of the message is right.

    Source: S2-18.
    """
    placed = [each for each in _pairs(exchange) if each[0].text_index is not None]
    if not placed:
        raise Vacuous("no attachment has a `text_index`, which is optional")
    expect_right_message(exchange, "`text_index`")
    length = len(exchange.response.message)
    for attachment, values, where in placed:
        index = attachment.text_index or 0
        if not 0 <= index <= length:
            fail(f"a text_index from 0 to {length}", str(index), where=where)
        if values.get("text_index") is not None:
            expect_equal("text_index", index, values["text_index"], where=where)


def _pairs(exchange: Exchange) -> Iterator[tuple[Attachment, Mapping[str, Any], str]]:
    """Yield (attachment, expected values, `attachment N`) for each. Raises Blocked if too few or too many came back."""
    actual, expected = exchange.response.attachments, exchange.expected.attachments
    if len(actual) != len(expected):
        raise Blocked("attachments are missing or made up; ATT-1 reports that")
    for number, (attachment, values) in enumerate(zip(actual, expected, strict=True)):
        yield attachment, values, f"attachment {number}"


def _expect_fields(exchange: Exchange, *names: str) -> None:
    for attachment, values, where in _pairs(exchange):
        for name in names:
            if name in values:
                expect_equal(name, getattr(attachment, name), values[name], where=where)


def _data(attachment: Attachment) -> str | None:
    """Return the bytes of an attachment in base64: its `data`, or else what its data URL holds."""
    head, _, base64 = (attachment.url or "").partition(";base64,")
    return base64 if attachment.data is None and head.startswith("data:") else attachment.data
