"""The contents of a proposal: the cassette's metadata, and the scenario file with values derived from the bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import httpx

from llm_conformance import __version__
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.recording.client import RawResponse
from llm_conformance.recording.provider_request import ProviderRequest
from llm_conformance.recording.splice import Splice
from llm_conformance.scenarios import cassette, dump
from llm_conformance.scenarios.bare_expected import Undecided, expected_from_bytes, with_segments
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.wire import answers
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.interaction import Interaction, Mode

_REPLACED = ("recordings", "expected")
"""The keys of a scenario file that depend on the response."""


@dataclass(frozen=True)
class Recording:
    """A request, its response, and the interaction for the cassette, which has no secrets."""

    request: ProviderRequest
    response: RawResponse
    interaction: Interaction

    @property
    def facts(self) -> WireFacts | None:
        """The facts in the response; None if the response cannot be read."""
        return answers.derive_if_readable(self.interaction, self.request.api)


def scenario(
    old: Mapping[str, Any],
    recordings: Collection[Recording],
    model: str | None,
    earlier: Iterable[Splice],
    own: Mapping[Mode, Splice],
) -> dict[str, Any]:
    """Return the scenario file of new recordings.

    Args:
        old: The present scenario file, or the draft.
        recordings: One for each mode.
        model: The requested model, if it differs from the recorded one.
        earlier: The replacements for earlier answers in the conversation.
        own: The replacements for this scenario's answer, by mode.
    """
    document = {key: value for key, value in old.items() if key not in _REPLACED}
    document["call"] = {**old["call"], **({"model": model} if model else {})}
    for splice in earlier:
        document["call"] = splice.apply(document["call"])
        document |= {"round_trip": splice.apply(document["round_trip"])} if "round_trip" in document else {}
    expected_by_mode: dict[Mode, Expected] = {}
    for recording in recordings:
        expected = _expected(recording, document["call"]["model"], old.get("think_profile", "off"))
        mode = recording.request.mode
        expected_by_mode[mode] = (
            _with_old_segments(expected, old["expected"], mode, own[mode]) if mode in own else expected
        )
    positions: dict[str, Any] = {each.request.mode: number for number, each in enumerate(recordings)}
    if len(expected_by_mode) == 2:
        positions["same_content"] = have_same_content(*expected_by_mode.values())
    return document | {"recordings": positions, "expected": dump.stated_by_mode(expected_by_mode)}


def _expected(recording: Recording, model: str, profile: ThinkProfile) -> Expected:
    api = recording.request.api
    expected = expected_from_bytes(recording.interaction, api, model, profile)
    if isinstance(expected, Undecided):
        return Expected(stated=frozenset({"error"}), error="ValidationError", fault="malformed")
    return with_segments(expected, recording.interaction, api)


def _with_old_segments(expected: Expected, old: Mapping[str, Any], mode: Mode, own: Splice) -> Expected:
    """Return the expected values with the old hand-written segments, if these fit the new answer.

    Hand-written segments may say more than derived segments, for example which calls the provider ran.
    """
    old_expected = read_expected(old, mode)
    if expected.error or "segments" not in old_expected.stated:
        return expected
    is_derived, types = "segments" in expected.stated, [each.type for each in expected.segments]
    if is_derived and types != [each.type for each in old_expected.segments]:
        return expected
    segments = tuple(
        replace(each, content=own.apply(each.content), metadata=own.apply(each.metadata))
        for each in old_expected.segments
    )
    text = "".join(each.content for each in segments if each.type == "text")
    reasoning = "".join(each.content for each in segments if each.type == "reasoning")
    if (text, reasoning) != (expected.message, expected.reasoning or ""):
        return expected
    return replace(expected, segments=segments, stated=expected.stated | {"segments"})


def have_same_content(one: Expected, other: Expected) -> bool:
    """Return True if a plain and a streamed answer are the same except for ids and models."""
    contents = [
        (
            *(each.message, each.refusal, each.reasoning, each.annotations, each.attachments),
            *(each.tool_calls, each.finish_reasons, each.usage),
        )
        for each in (one, other)
    ]
    return not (one.error or other.error) and contents[0] == contents[1]


def metadata(recordings: Collection[Recording], today: date, base_url: str | None, source: str) -> dict[str, Any]:
    """Return a cassette's metadata. `base_url` is where the requests went, unless they went to the provider."""
    request = next(iter(recordings)).request
    answered = sorted({each.facts.model for each in recordings if each.facts is not None and each.facts.model})
    bodies = (each.request.body for each in recordings)
    asked = sorted({str(body["model"]) for body in bodies if isinstance(body.get("model"), str)})
    place = _without_secrets(base_url) if base_url else request.base_url
    return {
        "provenance": "recorded",
        "source": ", ".join(filter(None, ("llm-conformance record", request.api.title, source))),
        "endpoint": place + request.path.partition("?")[0],
        "date": today.isoformat(),
        "recorder": f"llm-conformance {__version__}",
        **({"model_asked": ", ".join(asked)} if asked else {}),
        **({"model_answered": ", ".join(answered)} if answered else {}),
        "digest": cassette.digest(each.interaction for each in recordings),
        "arrival": [
            {
                "bytes": [chunk.size for chunk in each.response.chunks],
                "milliseconds": [chunk.milliseconds for chunk in each.response.chunks],
            }
            for each in recordings
        ],
    }


def _without_secrets(base_url: str) -> str:
    return str(httpx.URL(base_url).copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/")
