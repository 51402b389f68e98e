"""USE: token counts add up, and are those that the provider reports."""

from __future__ import annotations

from collections.abc import Sequence

from llm_conformance.compare import show
from llm_conformance.contract import Usage
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import in_response, rule
from llm_conformance.rules.violation import Blocked, expect_equal, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import COUNTS, PARTS

_SHOWN = in_response("usage")
_WHOLES = ("prompt_tokens", "completion_tokens")


def _has_total(expected: Expected, _mode: Mode) -> bool:
    return expected.usage is not None and expected.usage.total_tokens is not None


def _has_wholes(expected: Expected, _mode: Mode) -> bool:
    return expected.usage is not None


def _has_oversized_parts(expected: Expected, _mode: Mode) -> bool:
    return expected.usage is not None and bool(expected.oversized)


def _has_parts(expected: Expected, _mode: Mode) -> bool:
    return expected.usage is not None and any(getattr(expected.usage, part) is not None for part in PARTS)


def _lacks_a_count(expected: Expected, _mode: Mode) -> bool:
    if expected.error is not None or "usage" not in expected.stated:
        return False
    if expected.usage is None:
        return True
    unclaimed = expected.oversized | expected.unread
    return any(getattr(expected.usage, count) is None for count in COUNTS if count not in unclaimed)


@rule("USE-1", harm="wrong count", when=_has_total)
def test_total_is_prompt_plus_completion(exchange: Exchange) -> None:
    """`total_tokens` is all tokens of the input plus all tokens of the output.

    Budgets count tokens twice, or not at all. Some providers count reasoning, cached or tool tokens neither as input
    nor as output. Here, every token is in `prompt_tokens` or in `completion_tokens`, so that counts of different
    providers can be compared. If the total is wrong only because one of these counts is wrong, USE-3 reports this. If
    the provider reports no total, `total_tokens` may be None. If the provider's total is not the sum of its counts, the
    sum is right as well.

    Source: S0-21, S3-05, U-05.
    """
    usage, expected = _usage_or_blocked(exchange), _expected(exchange)
    total = expected.total_tokens if expected else None
    if usage.total_tokens is None and not exchange.scenario.api.usage.get("total_tokens"):
        return
    if usage.total_tokens in (total, _sum(expected) if expected else total):
        return
    if usage.total_tokens == _sum(usage) and _sum(usage) != (_sum(expected) if expected else None):
        raise Blocked("the total is wrong because another count is; USE-3 reports that")
    terms = f" = {expected.prompt_tokens} + {expected.completion_tokens}" if expected and _sum(expected) else ""
    fail(f"total_tokens {total}{terms}", show(usage.total_tokens))


@rule("USE-2", harm="wrong count", capability="usage_details", shown=_SHOWN, when=_has_oversized_parts)
def test_no_part_exceeds_its_whole(exchange: Exchange) -> None:
    """If the provider reports a part as larger than its whole, the adapter does not return this number for the part.

    Bills that subtract a part from its whole become negative. Cached tokens and audio are parts of the prompt.
    Reasoning and audio are parts of the completion. USE-5 judges parts that are no larger than their whole.

    Source: S0-20, S0-22.
    """
    usage = _usage_or_blocked(exchange)
    for part in sorted(exchange.expected.oversized):
        whole = PARTS[part]
        part_count, whole_count = getattr(usage, part), getattr(usage, whole)
        if part_count is not None and whole_count is not None and part_count > whole_count:
            fail(f"{part} <= {whole}, which is {whole_count}", str(part_count))


@rule("USE-3", harm="wrong count", when=_has_wholes)
def test_prompt_and_completion_are_the_providers(exchange: Exchange) -> None:
    """`prompt_tokens` and `completion_tokens` are the provider's counts, converted as the provider table says.

    Bills and budgets are wrong. Claude's input count excludes tokens that were read from or written to the cache, so
    `prompt_tokens` is the sum of the three. The documentation has a page for each provider, which says how it counts.
    In a stream, the last reported value of each count is right. A later report without that count does not remove it:
    Claude reports input at the start and output at the end. Other providers repeat growing counts, or send a last chunk
    that has usage and nothing else. Claude may make a summary before it answers, and reports the tokens of this summary
    separately. An adapter may add these tokens or leave them out.

    Source: S0-19, S2-33, S3-07, S3-10, S3-16.
    """
    if exchange.response.usage is None:
        fail("usage", f"none{'; the token counts of the stream were lost' if exchange.streamed else ''}")
    _expect_counts(exchange, _WHOLES)


@rule("USE-4", harm="wrong count", when=_lacks_a_count)
def test_no_count_is_invented(exchange: Exchange) -> None:
    """A count that the provider does not report is None: never 0, never a guess.

    Statistics show a count that the provider never gave. For example, 0 cached tokens means that the cache had nothing.
    A count by the adapter's own tokenizer is not what the provider bills. Two kinds of counts are not invented. One is
    a part that the provider reports as larger than its whole; USE-2 judges it. The other is a part that came in
    OpenAI's field for it, although the provider is not known to send this field.

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


@rule("USE-5", harm="wrong count", capability="usage_details", shown=_SHOWN, when=_has_parts)
def test_parts_are_the_providers(exchange: Exchange) -> None:
    """The parts of counts come back as the provider reports them: cached, cache write, reasoning and audio tokens.

    Cached tokens are billed at the full price, or the cost of reasoning is hidden. An adapter that does not declare
    `usage_details` may leave parts out. An adapter that does not declare `audio` may leave audio counts out.

    Source: S0-20, S0-22, S2-16.
    """
    _usage_or_blocked(exchange)
    _expect_counts(exchange, tuple(PARTS))


def _expect_counts(exchange: Exchange, names: Sequence[str]) -> None:
    """Compare counts that the provider reports, except counts that the adapter leaves out and may leave out."""
    usage, expected = exchange.response.usage, _expected(exchange)
    wrong = [
        count
        for count in names
        if getattr(expected, count) not in (None, getattr(usage, count))
        and not (getattr(usage, count) is None and _may_omit(exchange, count))
    ]
    if wrong:
        fail(
            ", ".join(f"{count} {getattr(expected, count)}" for count in wrong),
            ", ".join(f"{count} {show(getattr(usage, count))}" for count in wrong),
            hint=f"`llm-conformance explain {exchange.scenario.api}` says how it counts",
        )


def _expected(exchange: Exchange) -> Usage | None:
    """Return the provider's counts. They include the tokens of summaries if the adapter's counts include them."""
    usage, summed = exchange.response.usage, exchange.expected.usage_with_compactions
    counts_summaries = usage and summed and all(getattr(usage, name) == getattr(summed, name) for name in _WHOLES)
    return summed if counts_summaries else exchange.expected.usage


def _may_omit(exchange: Exchange, count: str) -> bool:
    declared = exchange.adapter.capabilities
    return count in PARTS and not {"usage_details", *(("audio",) if count.startswith("audio") else ())} <= declared


def _sum(usage: Usage) -> int | None:
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


def _usage_or_blocked(exchange: Exchange) -> Usage:
    usage = exchange.response.usage
    if usage is None:
        raise Blocked("there is no usage; USE-3 reports that")
    return usage
