"""ERR: what fails, fails as an error that a caller can act on."""

from __future__ import annotations

from llm_conformance.exchange import Exchange
from llm_conformance.judgement import fail, invariant
from llm_conformance.scenarios import Mode, Truth

ANY = "LLMError"
"""The error that a truth names where any class of the contract is right."""


def _fails(truth: Truth, _mode: Mode) -> bool:
    return truth.error is not None


@invariant("ERR-1", capability="errors", when=_fails)
def test_an_error_is_of_its_class(exchange: Exchange) -> None:
    """An error of the provider is raised, as the contract's class of its status, and nothing raw escapes.

    Callers wait and try again after a RateLimitError, and do not after an AuthenticationError; an exception of the HTTP
    library says neither, and an answer in the place of an error is stored and shown (S3-23 to S3-32, C-12). An error
    within a 200 has the class of the status that it names, else of its type.
    """
    wanted, raised = exchange.truth.error, exchange.outcome.raised
    if raised is None:
        fail(f"{_named(wanted)}, raised", "an answer" if exchange.outcome.response else "nothing")
    if raised.contract_type is None:
        fail(_named(wanted), f"{raised}", hint="neither its class nor a status says which error of the contract it is")
    if wanted not in (ANY, raised.contract_type):
        fail(_named(wanted), f"{raised.contract_type} ({raised})")


def _named(error: str | None) -> str:
    return "an error of the contract" if error == ANY else str(error)
