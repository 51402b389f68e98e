"""FIN: why the answer ended."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import fail


@rule("FIN-1", harm="false success")
def test_finish_reason_is_mapped_and_kept(exchange: Exchange) -> None:
    """`finish_reason` is the canonical word for the provider's, or None; `raw_finish_reason` is the provider's word.

    Callers must be able to tell a filtered or truncated answer from one that is short. A word that the provider table
    does not list is None, and never taken for `stop`. docs/providers.md shows which word means what.

    Source: S0-23, S0-24, S0-25, S0-26, S0-27, S0-28, S2-34, S3-11, C-06.
    """
    finish_reason = exchange.response.get("finish_reason")
    allowed = exchange.expected.finish_reasons
    provider_words = " or ".join(map(show, exchange.expected.raw_finish_reasons))
    if finish_reason not in allowed:
        fail(
            f"finish_reason {' or '.join(map(show, allowed))}",
            show(finish_reason),
            hint=f"the provider's word is {provider_words}",
        )
    raw_finish_reason = exchange.response.get("raw_finish_reason")
    if raw_finish_reason not in exchange.expected.raw_finish_reasons:
        fail(f"raw_finish_reason {provider_words}", show(raw_finish_reason))
