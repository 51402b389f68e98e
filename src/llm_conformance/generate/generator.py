"""The interface of a generator: it writes drawn answers in one wire format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.contract import Segment
from llm_conformance.generate import answers
from llm_conformance.generate.answers import Answer, Audio, Block, Call, Reasoning, Text
from llm_conformance.generate.chance import pick
from llm_conformance.generate.counts import Counts, counts
from llm_conformance.generate.further import with_further_fields
from llm_conformance.generate.ids import draw_id
from llm_conformance.generate.models import models, models_with_blank_blocks, reasoning_models
from llm_conformance.generate.think import ThinkText
from llm_conformance.generate.variations import FINISH_WORDS, WITHOUT_COUNTS, Variation, choose, ways_of
from llm_conformance.scenarios.expected import ExpectedAnnotation
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

_NO_COUNTS = Counts({}, None)

CREATED = 1762247560
"""Seconds since 1970."""


class Generator:
    """Writes answers in one wire format. The methods that draw take Hypothesis' `draw`.

    Attributes:
        seal: The key under which a segment's metadata has the opaque data of a block.
        has_ids: Whether responses have an id.
        counted: Maps a mode to the variation that says which responses have token counts. In other modes, all responses
            have counts.
        sends_back: Whether `sent_back` returns the reasoning.
        history: The field of a request that has the conversation.
        seals_reasoning: Whether reasoning may have any number of blocks, each with its own seal.
        allows_tags_beside_fields: Whether a response with reasoning in a field may have think tags in its text. Such
            tags are part of the text.
        structure: JSON pointers to values that every reader of a response or a frame needs. A response with numbers in
            place of these values is malformed.
        carriers: The types of the frames that every reader needs. () if frames have no types; then every reader needs
            all frames.
    """

    seal: ClassVar[str] = "signature"
    has_ids: ClassVar[bool] = True
    counted: ClassVar[Mapping[Mode, Variation]] = {}
    sends_back: ClassVar[bool] = False
    history: ClassVar[str] = "messages"
    seals_reasoning: ClassVar[bool] = False
    allows_tags_beside_fields: ClassVar[bool] = False
    structure: ClassVar[tuple[str, ...]]
    carriers: ClassVar[tuple[str, ...]] = ()

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw the blocks of an answer of this API, of all kinds that the format has."""
        raise NotImplementedError

    def cites(self, api: Api) -> bool:
        """Return True if answers of this API have citations."""
        return api.offset_unit != "none"

    def sends_back_of(self, api: Api) -> bool:
        """Return True if reasoning of this API can go back in the next request."""
        return self.sends_back

    def reasoning_to_send_back(self, draw: DrawFn, api: Api, text: str) -> Reasoning:
        """Draw a block of reasoning that can go back in the next request."""
        return self.reasoning(draw, api, text)

    def reasoning(self, draw: DrawFn, api: Api, text: str) -> Reasoning:
        """Draw a block of reasoning with this text, with its seal."""
        return Reasoning(text, answers.seals(draw) if self.seals_reasoning else "")

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw the document of a plain response."""
        raise NotImplementedError

    def frames(self, draw: DrawFn, answer: Answer) -> Sequence[Frame]:
        """Draw the frames of a streamed response. The stream is unfinished until the first frame with `ends`."""
        raise NotImplementedError

    def has_body(self, answer: Answer) -> bool:
        """Return True if an answer that was drawn for a stream could also be a plain response."""
        return True

    def may_lack_counts(self, api: Api, mode: Mode) -> bool:
        """Return True if a response of this mode may come without token counts."""
        return mode in self.counted and any(way in WITHOUT_COUNTS for way in ways_of(api, self.counted[mode]))

    def may_have_counts(self, api: Api, mode: Mode) -> bool:
        """Return True if a response of this mode may come with token counts."""
        return mode not in self.counted or any(way not in WITHOUT_COUNTS for way in ways_of(api, self.counted[mode]))

    def document(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw the document of a plain response, with the further fields of the API."""
        return with_further_fields(self.body(draw, answer), answer.api)

    def stream(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw the frames of a streamed response, with the further fields of the API."""
        return [
            frame if isinstance(frame.data, str) else replace(frame, data=with_further_fields(frame.data, answer.api))
            for frame in self.frames(draw, answer)
        ]

    def citation(self, answer: Answer, block: Text, citation: answers.Citation) -> Mapping[str, Any]:
        """Return the data of a citation that the adapter has to return, without start and end."""
        raise NotImplementedError

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the fields of the request without which the provider would not give such an answer."""
        return {}

    def sources(self, answer: Answer) -> Sequence[Mapping[str, Any]]:
        """Return the parts of the user's message that the answer cites, in the form of the API."""
        return ()

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Map JSON pointers into the next request to the parts of the answer that have to be there.

        The answer is the second message of the conversation.
        """
        return {}

    def turn(self, answer: Answer) -> list[Mapping[str, Any]]:
        """Return the answer as a part of the conversation in the next request.

        This message need not have what `sent_back` returns.
        """
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
            for call in answer.calls
        ]
        text = {"content": answer.sent} if answer.sent or not calls else {}
        return [{"role": "assistant", **text, **({"tool_calls": calls} if calls else {})}]

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the finish words that this generator can write, each with its finish reason."""
        return api.finish

    def sent_words(self, api: Api) -> Mapping[str, str | None]:
        """Return the `words` that the provider is known to send, each with its finish reason."""
        known = ways_of(api, FINISH_WORDS)
        return {word: reason for word, reason in self.words(api).items() if word in known}

    def raw_finish_reasons(self, answer: Answer) -> tuple[str | None, ...]:
        """Return all correct values of `raw_finish_reason`."""
        return tuple(dict.fromkeys((answer.word or None, answer.word_also or answer.word or None)))

    def segments(self, answer: Answer, mode: Mode) -> Iterator[Segment]:
        """Yield the segments that the adapter has to return."""
        return answer.segments(self.seal)

    def decides_segments(self, answer: Answer, mode: Mode) -> bool:
        """Return True if only one list of segments is right for the answer."""
        return True

    def annotations(self, answer: Answer) -> Iterator[ExpectedAnnotation]:
        """Yield the annotations that the adapter has to return."""
        for base, block, citation in answer.spans:
            start, end = base + citation.start, base + citation.end
            data = self.citation(answer, block, citation)
            yield ExpectedAnnotation(
                start, end, answer.message[start:end], data, may_be_unanchored=citation.start == citation.end == 0
            )

    def answer(
        self,
        draw: DrawFn,
        api: Api,
        blocks: tuple[Block, ...],
        think: ThinkText | None = None,
        asked: str | None = None,
        mode: Mode = "json",
    ) -> Answer:
        """Draw the rest of an answer with these blocks: token counts, a finish word, an id and the model.

        `asked`, if given, is the model to use. The mode decides whether there are token counts. At the end, `settled`
        may change the answer.
        """
        has_calls = any(isinstance(block, Call) for block in blocks)
        speaks = any(isinstance(block, Audio) for block in blocks)
        reasons = any(isinstance(block, Reasoning) for block in blocks)
        fitting = reasoning_models(api) if reasons else models(api, think.profile if think else "off", speaks)
        if think is not None and think.is_blank:
            fitting = models_with_blank_blocks(api, think.profile)
        # For some APIs (MiniMax's, and Gemini's chat), all models think between tags, but not in every request.
        fitting = fitting or reasoning_models(api)
        model = asked or pick(draw, *fitting)
        answer = Answer(
            api=api,
            blocks=blocks,
            counts=_NO_COUNTS,
            word=answers.word(draw, api, self.sent_words(api), has_calls),
            asked=model,
            model=api.models[model] or model,
            id=draw_id(draw, api, "answer"),
            think=think,
        )
        answer = self.settled(draw, answer, mode)
        if not self.has_counts(draw, answer, mode):
            return answer
        return self.counted_answer(draw, replace(answer, counts=draw(counts(api, answer.shown))), mode)

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw what only this format has. The answer already has everything else, except token counts.

        Token counts are drawn afterwards, because they depend on what the answer shows.
        """
        return answer

    def counted_answer(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw what only this format has in an answer with token counts. The answer already has everything else."""
        return answer

    def has_counts(self, draw: DrawFn, answer: Answer, mode: Mode) -> bool:
        """Draw whether an answer has token counts."""
        return mode not in self.counted or choose(draw, answer.api, self.counted[mode]) not in WITHOUT_COUNTS
