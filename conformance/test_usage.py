"""USE: token counts add up, and are those that the provider reports."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.contract import Usage
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import Vacuous, expect_equal, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import COUNTS, PARTS


def _is_reported(expected: Expected, _mode: Mode) -> bool:
    return expected.usage is not None


def _has_parts(expected: Expected, _mode: Mode) -> bool:
    if expected.usage is None:
        return False
    return bool(expected.oversized) or any(getattr(expected.usage, part) is not None for part in PARTS)


def _lacks_a_count(expected: Expected, _mode: Mode) -> bool:
    if expected.error is not None or "usage" not in expected.stated:
        return False
    if expected.usage is None:
        return True
    unclaimed = expected.oversized | expected.unread
    return any(getattr(expected.usage, count) is None for count in COUNTS if count not in unclaimed)


def _is_reported_in_stream(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.usage is not None


@rule("USE-1", harm="wrong count", when=_is_reported)
def test_total_is_prompt_plus_completion(exchange: Exchange) -> None:
    """`total_tokens` equals `prompt_tokens` plus `completion_tokens` wherever all three are known.

    Some providers count reasoning, cached or tool tokens outside both. Normalised, every token is in one of the two, so
    that counts of different providers can be compared.

    Source: S0-21, S3-05, U-05.
    """
    usage = _usage(exchange)
    if usage.prompt_tokens is None or usage.completion_tokens is None or usage.total_tokens is None:
        raise Vacuous("not all three counts came back; USE-3 compares them")
    expect_equal(
        f"total_tokens = {usage.prompt_tokens} + {usage.completion_tokens} =",
        usage.total_tokens,
        usage.prompt_tokens + usage.completion_tokens,
    )


@rule("USE-2", harm="wrong count", when=_has_parts)
def test_no_part_exceeds_its_whole(exchange: Exchange) -> None:
    """A part never exceeds its whole: cache and audio in the prompt, reasoning and audio in the completion.

    Bills are made by subtracting parts from wholes, and must not become negative.

    Source: S0-20, S0-22.
    """
    usage = _usage(exchange)
    if all(getattr(usage, part) is None for part in PARTS):
        raise Vacuous("no part came back; USE-3 compares them")
    for part, whole in PARTS.items():
        part_count, whole_count = getattr(usage, part), getattr(usage, whole)
        if part_count is not None and whole_count is not None and part_count > whole_count:
            fail(f"{part} <= {whole}, which is {whole_count}", str(part_count))


@rule("USE-3", harm="wrong count", when=_is_reported)
def test_counts_are_the_providers(exchange: Exchange) -> None:
    """Every count that the provider reports comes back, converted as the provider table says for that API.

    Bills and budgets are made from these counts. Claude's input count excludes tokens that were read from or written to
    the cache, so `prompt_tokens` is the sum of the three; docs/providers.md says how each API counts. An adapter
    that does not declare `audio` may leave out the audio counts.

    Source: S0-19, S2-16, S3-07, S3-10.
    """
    usage, expected = _usage(exchange), exchange.expected.usage
    may_omit_audio = "audio" not in exchange.adapter.capabilities
    wrong = [
        count
        for count in COUNTS
        if getattr(expected, count) not in (None, getattr(usage, count))
        and not (may_omit_audio and count.startswith("audio") and getattr(usage, count) is None)
    ]
    if wrong:
        fail(
            ", ".join(f"{count} {getattr(expected, count)}" for count in wrong),
            ", ".join(f"{count} {show(getattr(usage, count))}" for count in wrong),
            hint=f"the algebra is under {exchange.scenario.api} in docs/providers.md",
        )


@rule("USE-4", harm="wrong count", when=_lacks_a_count)
def test_no_count_is_invented(exchange: Exchange) -> None:
    """A count that the provider does not report is None: never 0, never a guess.

    0 cached tokens means that the cache had nothing; None means that nobody knows. A count by the adapter's own
    tokenizer is not what the provider bills. A part that the provider reports as larger than its whole is not invented:
    USE-2 judges it. Nor is a detail that is where OpenAI has it, though the provider is not known to send it.

    Source: S0-22, S4-09, C-11.
    """
    usage, expected = exchange.response.usage, exchange.expected.usage
    if usage is None:
        return
    if expected is None:
        fail("usage null", "a usage, although the provider reports no count")
    unclaimed = exchange.expected.oversized | exchange.expected.unread
    for count in COUNTS:
        if getattr(expected, count) is None and count not in unclaimed:
            expect_equal(count, getattr(usage, count), None)


@rule("USE-5", harm="wrong count", capability="streaming", when=_is_reported_in_stream)
def test_streamed_counts_are_folded_by_key(exchange: Exchange) -> None:
    """For each count of a stream, the last reported value holds. A later report without that count does not remove it.

    Claude reports input at the start and output at the end. Others repeat growing counts on every chunk, or send a last
    chunk that has usage and nothing else.

    Source: S2-33, S3-16.
    """
    usage, expected = exchange.response.usage, exchange.expected.usage
    if usage is None:
        fail("the usage that the stream reports", "none; a chunk that only carries usage was lost")
    for count in ("prompt_tokens", "completion_tokens"):
        expect_equal(count, getattr(usage, count), getattr(expected, count))


def _usage(exchange: Exchange) -> Usage:
    usage = exchange.response.usage
    if usage is None:
        fail("usage", "none")
    return usage
