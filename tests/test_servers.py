"""Rules about servers: the reference server passes all, and each broken server fails exactly its rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from llm_conformance.judging.status import Status
from llm_conformance.recording.scrubbing import Scrubbed
from llm_conformance.recording.scrubbing import scrub as scrub_anew
from llm_conformance.rules.rule import HARMS
from llm_conformance.server import plan, recordings
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.catalogue import FAMILIES, catalogue, rules_of
from llm_conformance.server.conversations import CAPABILITIES, conversations
from llm_conformance.server.findings import findings, not_judged
from llm_conformance.server.judge import Judgement, judge
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from tests.servers import asking
from tests.servers.broken import BROKEN
from tests.servers.broken.base import Broken
from tests.servers.messages import MessagesReference
from tests.servers.ollama import OllamaReference
from tests.servers.reference import Answer, Reference
from tests.servers.responses import ResponsesReference

REFERENCES: list[type[Reference]] = [Reference, MessagesReference, ResponsesReference, OllamaReference]


@pytest.fixture(scope="module", autouse=True)
def remembered() -> Iterator[None]:
    """Scrub each answer once: most of a broken server's are those of the reference server."""
    known: dict[Any, Scrubbed] = {}

    def scrub(interaction: Interaction, api: Api, secrets: Sequence[str] = ()) -> Scrubbed:
        headers = sorted(interaction.headers.items())
        kept = [pair for pair in headers if pair[0] in ("content-type", "retry-after")]
        key = (str(interaction.request), interaction.status, str(kept), interaction.body, tuple(secrets))
        if key not in known:
            at_one_port = replace(interaction, uri="http://127.0.0.1:1/v1/chat/completions")
            known[key] = scrub_anew(at_one_port, api, secrets)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recordings, "scrub", scrub)
        yield


def failures(judgement: Judgement) -> dict[str, list[str]]:
    """Return the messages of all failures by rule."""
    found: dict[str, list[str]] = {}
    for each in judgement.verdicts:
        if each.status == Status.FAIL:
            found.setdefault(each.rule, []).append(f"{each.scenario} {each.mode}: {each.message}")
    return found


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.api)
def test_the_reference_server_passes_and_gives_each_rule_something_to_judge(reference: type[Reference]) -> None:
    judgement = asking.judged(reference())

    assert failures(judgement) == {}
    assert [each for each in judgement.verdicts if each.status == Status.BLOCKED] == []
    assert [rule for rule, _ in not_judged(judgement.verdicts)] == ["SRV-53"]  # it answers within three seconds


FIRST_OF_EACH_RULE = {broken.fails[0]: broken for broken in reversed(BROKEN)}.values()
"""For each rule, the first broken server that fails it. The other broken servers run once a week."""


@pytest.mark.parametrize(
    "broken",
    [pytest.param(each, marks=[] if each in FIRST_OF_EACH_RULE else [pytest.mark.weekly]) for each in BROKEN],
    ids=lambda broken: broken.__name__,
)
def test_a_broken_server_fails_its_own_rules_and_no_other(broken: type[Broken]) -> None:
    server = broken()
    target, kept = asking.recordings_of(server, patience_s=broken.patience_s)

    found = failures(judge(target, plan.selected(server.api, ()), [server.kept(each) for each in kept]))

    assert {id: messages[0] for id, messages in found.items() if id not in broken.fails} == {}
    assert set(found) == set(broken.fails)
    messages = found[broken.fails[0]]
    assert any(re.search(broken.says, message) for message in messages), messages[0]


def test_every_rule_has_its_own_broken_server() -> None:
    assert {broken.fails[0] for broken in BROKEN} == set(catalogue())


@pytest.mark.parametrize("api", APIS)
def test_every_rule_fails_in_each_format_that_it_is_about(api: str) -> None:
    failed = {id for broken in BROKEN if broken.api == api for id in broken.fails}

    assert failed == {rule.id for rule in rules_of(api)}


def test_rules_are_documented() -> None:
    for id, rule in catalogue().items():
        assert rule.requirement.endswith("."), id
        assert "should" not in rule.requirement, id
        assert rule.reason, id
        assert "https://" in rule.source, id
        assert rule.family in FAMILIES, id
        assert rule.harm in HARMS, id
        assert rule.needs <= CAPABILITIES.keys(), id
        assert set(rule.apis) <= APIS.keys(), id


def test_a_server_that_claims_nothing_is_asked_for_the_format_alone() -> None:
    judgement = asking.judged(Reference(), frozenset())

    asked = {each.scenario for each in judgement.verdicts if each.status == Status.PASS}
    assert "chat/plain" in asked
    assert "chat/tool" not in asked
    of_choice = {each.scenario: each.message for each in judgement.verdicts if each.rule == "SRV-33"}
    assert of_choice["chat/plain"] == "not claimed: tool_choice"
    messages = {each.message for each in judgement.verdicts if each.scenario == "chat/tool-required"}
    assert messages == {"not asked; not claimed: tools, tool_choice"}


class Silent(Reference):
    """Never calls a tool, and thinks nothing."""

    def called(self, request: dict[str, Any], text: str) -> Any:
        return self.said({**request, "tools": None})

    def thought(self, request: dict[str, Any]) -> Any:
        return replace(super().thought(request), reasoning="")


def test_what_the_model_does_not_do_is_neither_green_nor_red_where_the_protocol_does_not_decide() -> None:
    claims = asking.CLAIMS - {"tool_choice", "parallel_tools"}
    judgement = asking.judged(Silent(), claims)

    assert failures(judgement) == {}
    silent = dict(not_judged(judgement.verdicts))
    assert "vacuous: the model makes no call" in silent["SRV-30"]
    assert "vacuous: the model gives no reasoning" in silent["SRV-41"]


class Filtering(Reference):
    """Says first what its content filter thinks of the prompt, as Azure does."""

    def chunks(self, request: dict[str, Any], answers: Sequence[Any]) -> list[dict[str, Any]]:
        first, *others = super().chunks(request, answers)
        return [{**first, "choices": [], "prompt_filter_results": []}, first, *others]


def test_a_chunk_with_the_results_of_a_filter_needs_no_choice() -> None:
    assert "SRV-13" not in failures(asking.judged(Filtering()))


class OpenResponses(ResponsesReference):
    """Ends streams as https://www.openresponses.org/specification demands."""

    def frames(self, chunks: Sequence[Any]) -> list[bytes]:
        return [*super().frames(chunks), b"data: [DONE]\n\n"]


def test_a_stream_of_responses_may_end_with_done() -> None:
    assert failures(asking.judged(OpenResponses())) == {}


class Refusing(Reference):
    """Has a model that does not answer in JSON, and says so in `refusal`."""

    def as_json(self, request: dict[str, Any]) -> Answer:
        return Answer("I do not say.")

    def message(self, answer: Answer) -> dict[str, Any]:
        message = super().message(answer)
        return {**message, "content": None, "refusal": answer.text} if answer.text == "I do not say." else message

    def deltas(self, answer: Answer) -> Iterator[dict[str, Any]]:
        for delta in super().deltas(answer):
            is_refusal = answer.text == "I do not say." and bool(delta.get("content"))
            yield {"refusal": delta["content"]} if is_refusal else delta


class RefusingResponses(ResponsesReference):
    """The same in responses."""

    def as_json(self, request: dict[str, Any]) -> Answer:
        return Answer("I do not say.")

    def items(self, answer: Answer) -> list[dict[str, Any]]:
        items = super().items(answer)
        if answer.text == "I do not say.":
            items[0]["content"] = [{"type": "refusal", "refusal": answer.text}]
        return items

    def events(self, index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        (part, *_) = item.get("content") or [{}]
        if part.get("type") != "refusal":
            yield from super().events(index, item)
            return
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}}
        yield {"type": "response.content_part.added", **at, "part": {**part, "refusal": ""}}
        yield from self.pieces_of("response.refusal", at, "refusal", part["refusal"])
        yield {"type": "response.content_part.done", **at, "part": part}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}


@pytest.mark.parametrize("refusing", [Refusing, RefusingResponses])
def test_a_model_that_refuses_need_not_answer_in_json(refusing: type[Reference]) -> None:
    judgement = asking.judged(refusing())

    assert failures(judgement) == {}
    judged = {("SRV-6", f"{refusing.api}/json"), ("SRV-7", f"{refusing.api}/json-schema")}
    messages = {each.message for each in judgement.verdicts if (each.rule, each.scenario) in judged}
    assert messages == {"the model refuses to answer, or a filter has cut the answer off"}


class Moody(Reference):
    """Answers the same question otherwise each time."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0

    def said(self, request: dict[str, Any]) -> Any:
        self._asked += 1
        answer = super().said(request)
        return replace(answer, text=f"{answer.text} ({self._asked})") if "Paris" in answer.text else answer


def test_a_stream_of_a_model_that_is_not_deterministic_is_not_compared() -> None:
    judgement = asking.judged(Moody(), asking.CLAIMS - {"json", "json_schema"})

    compared = [each for each in judgement.verdicts if each.rule == "SRV-50" and each.scenario == "chat/plain"]
    assert [each.message for each in compared] == ["two plain answers to the same request differ"]
    assert failures(judgement) == {}


class ThinksNowAndThen(Reference):
    """Thinks at every other question."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0

    def thought(self, request: dict[str, Any]) -> Any:
        self._asked += 1
        answer = super().thought(request)
        return replace(answer, reasoning=answer.reasoning if self._asked % 2 else "")


def test_a_model_that_thinks_now_and_then_is_not_compared() -> None:
    judgement = asking.judged(ThinksNowAndThen(), asking.CLAIMS - {"seed"})

    (compared,) = (each for each in judgement.verdicts if (each.rule, each.scenario) == ("SRV-41", "chat/reasoning"))
    assert compared.message == "the model does not always give its reasoning"


class EndsItsReasoningTwice(Reference):
    """Has a model that writes the end tag again, as small ones do, so that it is in the text."""

    def thought(self, request: dict[str, Any]) -> Answer:
        answer = super().thought(request)
        return replace(answer, text=f"A day has 24 hours. </think> {answer.text}")


def test_an_end_tag_that_the_model_writes_behind_its_reasoning_is_not_red() -> None:
    judgement = asking.judged(EndsItsReasoningTwice(), asking.CLAIMS - {"seed"})

    assert failures(judgement) == {}
    found = {each.message for each in judgement.verdicts if (each.rule, each.scenario) == ("SRV-40", "chat/reasoning")}
    assert found == {"the model may have written the end tag in the text, as its reasoning had ended before"}


class EndsAfterFour(Reference):
    """Says four words and ends with `stop`, if its limit is four tokens."""

    def limited(self, request: dict[str, Any], answer: Any) -> Any:
        return replace(answer, text="four words are enough") if request["max_tokens"] == 4 else answer


def test_an_answer_that_ends_by_itself_at_the_limit_is_not_red() -> None:
    verdicts = asking.judged(EndsAfterFour()).verdicts

    assert {each.message for each in verdicts if (each.rule, each.scenario) == ("SRV-21", "chat/cut")} == {
        "the answer may have ended by itself"
    }


def test_findings_join_the_failures_of_a_cause_with_the_worst_harm_first() -> None:
    found = findings(asking.judged(_named("EndTagInStreams")()).verdicts)

    assert [(each.rule, each.harm) for each in found] == [("SRV-40", "leak"), ("SRV-50", "wrong")]
    assert {each.scenario for each in found[0].failures} == {"chat/reasoning", "chat/reasoning-turns"}


def test_two_requests_that_are_not_refused_are_two_findings() -> None:
    class Both(_named("MalformedJsonIsTheServersFault"), _named("MissingMessagesAnswered")):  # type: ignore[misc]
        pass

    found = findings(asking.judged(Both()).verdicts)

    assert [each.rule for each in found] == ["SRV-1", "SRV-1"]
    assert {frozenset(verdict.scenario for verdict in each.failures) for each in found} == {
        frozenset(["chat/malformed"]),
        frozenset(["chat/no-messages"]),
    }


def _named(name: str) -> Any:
    return next(each for each in BROKEN if each.__name__ == name)


@pytest.mark.parametrize("api", APIS)
def test_conversations_need_known_capabilities_and_have_titles(api: str) -> None:
    for each in conversations(api).values():
        assert set(each.needs) <= CAPABILITIES.keys(), each.id
        assert each.title, each.id
        assert set(each.modes) <= {"json", "stream"}, each.id
