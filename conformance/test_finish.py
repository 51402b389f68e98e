"""FIN: why the answer ended."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import fail


@rule("FIN-1")
def test_finish_reason_is_mapped_and_kept(exchange: Exchange) -> None:
    """`finish_reason` is the canonical word for the provider's own, which `raw_finish_reason` keeps; unknown is None.

    A filtered or truncated answer must differ from a short one. A word that nobody knows is never taken for `stop`
    (S0-23 to S0-28, S2-34, S3-11, C-6). Which word means what is said by the provider table.
    """
    finish = exchange.response.get("finish_reason")
    allowed = exchange.expected.finish_reasons
    words = " or ".join(map(show, exchange.expected.raw_finish_reasons))
    if finish not in allowed:
        fail(
            f"finish_reason {' or '.join(map(show, allowed))}",
            show(finish),
            hint=f"the provider's word is {words}",
        )
    raw = exchange.response.get("raw_finish_reason")
    if raw not in exchange.expected.raw_finish_reasons:
        fail(f"raw_finish_reason {words}", show(raw))
