"""FIN: why the answer ended."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import in_response, rule
from llm_conformance.rules.violation import fail


@rule("FIN-1", harm="false success")
def test_finish_reason_is_mapped(exchange: Exchange) -> None:
    """`finish_reason` is the canonical word for the provider's own word, or None.

    Callers cannot tell a complete answer from a filtered or truncated one. A refusal is not a complete answer either,
    so its finish reason is `content_filter`, whatever the provider's word is. A word that the provider table does not
    list becomes None, never `stop`. The documentation has a page for each provider, which says which word means what.

    Source: S0-23, S0-24, S0-25, S0-26, S0-27, S0-28, S2-34, S3-11, C-06.
    """
    finish_reason = exchange.response.get("finish_reason")
    allowed = exchange.expected.finish_reasons
    if finish_reason not in allowed:
        fail(
            f"finish_reason {' or '.join(map(show, allowed))}",
            show(finish_reason),
            hint=f"the provider's word is {_provider_words(exchange)}{_refused(exchange)}",
        )


@rule("FIN-2", harm="untraceable", capability="raw_finish", shown=in_response("raw_finish_reason"))
def test_finish_word_is_kept(exchange: Exchange) -> None:
    """`raw_finish_reason` is the provider's own word for why the answer ended.

    Nobody can look up what the provider meant. One canonical word stands for several words of the provider, and a new
    word has no canonical word.

    Source: C-06.
    """
    word = exchange.response.get("raw_finish_reason")
    if word not in exchange.expected.raw_finish_reasons:
        cause = f"another raw_finish_reason; got {'null' if word is None else 'a word'}"
        fail(f"raw_finish_reason {_provider_words(exchange)}", show(word), cause=cause)


def _refused(exchange: Exchange) -> str:
    return ", and the answer is a refusal" if exchange.expected.refusal else ""


def _provider_words(exchange: Exchange) -> str:
    return " or ".join(map(show, exchange.expected.raw_finish_reasons))
