"""What a proposal consists of: the metadata of the cassette, and the scenario file with the truth of its bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import httpx

from llm_conformance import __version__
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.recording.client import Answer
from llm_conformance.recording.drafts import Ask
from llm_conformance.recording.splice import Splice
from llm_conformance.scenarios import cassette, dump
from llm_conformance.scenarios.bare_expected import Undecided, expected_from_bytes, with_segments
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.wire import answers
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.interaction import Interaction, Mode

# What a scenario file has of the answer that it was written for.
_OF_THE_ANSWER = ("recordings", "expected")


@dataclass(frozen=True)
class Recorded:
    """A request that was made, what came back, and what of it may be kept."""

    ask: Ask
    answer: Answer
    interaction: Interaction

    @property
    def facts(self) -> WireFacts | None:
        """What the answer says, None if it cannot be read."""
        return answers.derive_if_readable(self.interaction, self.ask.api)


def scenario(
    old: Mapping[str, Any],
    made: Collection[Recorded],
    model: str | None,
    before: Iterable[Splice],
    own: Mapping[Mode, Splice],
) -> dict[str, Any]:
    """Return the scenario file of a recording.

    Args:
        old: The scenario file as it was, or the draft.
        made: What was recorded, by mode.
        model: The model that was asked instead of the recorded one.
        before: What became of the answers that stand in the conversation.
        own: What became of the answer itself, by mode.
    """
    document = {key: value for key, value in old.items() if key not in _OF_THE_ANSWER}
    document["call"] = {**old["call"], **({"model": model} if model else {})}
    for told in before:
        document["call"] = told.of(document["call"])
        document |= {"round_trip": told.of(document["round_trip"])} if "round_trip" in document else {}
    expected_by_mode: dict[Mode, Expected] = {}
    for each in made:
        expected = _expected(each, document["call"]["model"], old.get("think_profile", "off"))
        mode = each.ask.mode
        expected_by_mode[mode] = (
            _with_old_segments(expected, old["expected"], mode, own[mode]) if mode in own else expected
        )
    recordings: dict[str, Any] = {each.ask.mode: number for number, each in enumerate(made)}
    if len(expected_by_mode) == 2:
        recordings["same_content"] = say_the_same(*expected_by_mode.values())
    return document | {"recordings": recordings, "expected": dump.stated_by_mode(expected_by_mode)}


def _expected(recorded: Recorded, model: str, profile: ThinkProfile) -> Expected:
    api = recorded.ask.api
    expected = expected_from_bytes(recorded.interaction, api, model, profile)
    if isinstance(expected, Undecided):
        return Expected(stated=frozenset({"error"}), error="ValidationError", fault="malformed")
    return with_segments(expected, recorded.interaction, api)


def _with_old_segments(expected: Expected, old: Mapping[str, Any], mode: Mode, own: Splice) -> Expected:
    """Return a truth with the segments that were written by hand, where the new answer is built as the old one was."""
    old_expected = read_expected(old, mode)
    if expected.error or "segments" in expected.stated or "segments" not in old_expected.stated:
        return expected
    segments = tuple(
        replace(each, content=own.of(each.content), metadata=own.of(each.metadata)) for each in old_expected.segments
    )
    text = "".join(each.content for each in segments if each.type == "text")
    reasoning = "".join(each.content for each in segments if each.type == "reasoning")
    if (text, reasoning) != (expected.message, expected.reasoning or ""):
        return expected
    return replace(expected, segments=segments, stated=expected.stated | {"segments"})


def say_the_same(one: Expected, other: Expected) -> bool:
    """Whether a plain and a streamed answer are the same but for what identifies them."""
    said = [
        (
            *(each.message, each.refusal, each.reasoning, each.annotations, each.attachments),
            *(each.tool_calls, each.finish_reasons, each.usage),
        )
        for each in (one, other)
    ]
    return not (one.error or other.error) and said[0] == said[1]


def metadata(made: Collection[Recorded], today: date, base_url: str | None, source: str) -> dict[str, Any]:
    """Return a cassette's metadata; `base_url` is where it was asked if that was not the provider's own."""
    ask = next(iter(made)).ask
    answered = sorted({each.facts.model for each in made if each.facts is not None and each.facts.model})
    asked = sorted({str(each.ask.request["model"]) for each in made if isinstance(each.ask.request.get("model"), str)})
    place = _without_secrets(base_url) if base_url else ask.base_url
    return {
        "provenance": "recorded",
        "source": ", ".join(filter(None, ("llm-conformance record", ask.api.title, source))),
        "endpoint": place + ask.rest.partition("?")[0],
        "date": today.isoformat(),
        "recorder": f"llm-conformance {__version__}",
        **({"model_asked": ", ".join(asked)} if asked else {}),
        **({"model_answered": ", ".join(answered)} if answered else {}),
        "digest": cassette.digest(each.interaction for each in made),
        "arrival": [
            {
                "bytes": [piece.size for piece in each.answer.pieces],
                "milliseconds": [piece.milliseconds for piece in each.answer.pieces],
            }
            for each in made
        ],
    }


def _without_secrets(base_url: str) -> str:
    return str(httpx.URL(base_url).copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/")
