"""Broken adapters that fail ATT-1 to ATT-4 first: audio and images are lost, split or misplaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._generate import GenerateDecoder
from adapters._media import Media
from adapters.gemini_interactions import InteractionsDecoder
from llm_conformance.contract import Attachment, Call, Response
from tests.broken.base import Events, FaultyDecoder, FaultyEvents, FaultyResponse

# ATT-1


class AudioLostInStreams(FaultyEvents):
    """Drops the audio of streams."""

    fails = ("ATT-1",)
    says = "expected the number of attachments 1; got 0"

    def alter(self, events: Events) -> Events:
        for event in events:
            if event.event_type != "response.media":
                yield replace(event, response=event.response and replace(event.response, attachments=()))


class PiecesAsFiles(Media):
    def _feed_speech(self, type: str, data: str) -> Events:
        return self._feed_file(type, data, {})


class SpeechAsMedia(GenerateDecoder):
    def __init__(self, call: Call, **options: Any) -> None:
        super().__init__(call, **options)
        self._media = PiecesAsFiles(self._answer)


class SpokenInteraction(InteractionsDecoder):
    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self._media = PiecesAsFiles(self._answer)


class EachPieceOfSpeechAnAttachment(FaultyDecoder):
    """Makes an attachment of every piece of streamed speech."""

    fails = ("ATT-1",)
    says = "expected the number of attachments 1; got 3"
    decoders = MappingProxyType({GenerateDecoder: SpeechAsMedia, InteractionsDecoder: SpokenInteraction})


class EmptyAudioTakenForAudio(FaultyResponse):
    """Makes an attachment of an audio object whose fields are all empty."""

    apis = ("snowflake:chat",)
    fails = ("ATT-1",)
    says = "expected the number of attachments 0; got 1"

    def alter(self, response: Response, call: Call) -> Response:
        message = (response.raw_events[0].get("choices") or [{}])[0].get("message") or {}
        silent = isinstance(message.get("audio"), Mapping) and not any(message["audio"].values())
        return replace(response, attachments=(Attachment(data="", transcript=""),)) if silent else response


# ATT-2


class AudioTranscriptDropped(FaultyResponse):
    """Drops the transcript of audio."""

    fails = ("ATT-2",)
    says = "expected transcript"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, attachments=tuple(replace(a, transcript=None) for a in response.attachments))


# ATT-3


class IdOfTheAudioDropped(FaultyResponse):
    """Drops the id of audio."""

    fails = ("ATT-3",)
    says = "expected id .*; got null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, attachments=tuple(replace(a, id=None) for a in response.attachments))


# ATT-4


class ImagesBehindTheText(FaultyResponse):
    """Places every image and sound at the end of the message."""

    fails = ("ATT-4",)
    says = "expected text_index"

    def alter(self, response: Response, call: Call) -> Response:
        end = len(response.message)
        return replace(response, attachments=tuple(replace(a, text_index=end) for a in response.attachments))


class PlacesCountedInBytes(FaultyResponse):
    """Counts the places of images and sounds in UTF-8 bytes."""

    fails = ("ATT-4",)
    says = "expected (a )?text_index"

    def alter(self, response: Response, call: Call) -> Response:
        text = response.message
        moved = (a.text_index and len(text[: a.text_index].encode()) for a in response.attachments)
        pairs = zip(response.attachments, moved, strict=True)
        return replace(response, attachments=tuple(replace(a, text_index=index) for a, index in pairs))
