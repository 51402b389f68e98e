"""The answers of the themes: with anything that the provider sends, with think tags, with citations, or with counts."""

from __future__ import annotations

import functools
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.models import answers_plainly, profiles, reasoning_models
from llm_conformance.generate.think import Part, ThinkText, think_texts
from llm_conformance.generate.variations import ways_of
from llm_conformance.wire import think_tags
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api


def anything(draw: DrawFn, api: Api, mode: Mode) -> Answer:
    """Draw an answer with anything that the format has a place for."""
    return GENERATORS[api.wire].answer(draw, api, draw(_blocks(api)), mode=mode)


def counting(draw: DrawFn, api: Api, mode: Mode) -> Answer:
    """Draw an answer with little text."""
    text = draw(_short_texts(api))
    return GENERATORS[api.wire].answer(draw, api, (Text(text),), mode=mode)


def thinks(api: Api) -> bool:
    """Return True if a model of the API thinks between tags, as the provider table says."""
    return any(profile != "off" for profile in profiles(api))


def thinking(draw: DrawFn, api: Api, mode: Mode) -> Answer:
    """Draw an answer of a model that thinks between tags, or that writes about tags."""
    generator = GENERATORS[api.wire]
    has_fields = bool(api.reasoning_fields and generator.allows_tags_beside_fields and reasoning_models(api))
    if not (has_fields and at_most(draw, 5) == 5):
        think = _think_text(draw, api)
        blocks: tuple[Block, ...] = (Text(think.message), *_calls(draw, api, think))
        return _ended(draw, generator.answer(draw, api, blocks, think, mode=mode))
    # If a response has reasoning in a field, tags in its text are text, whatever the think profile is.
    native = Reasoning(draw(texts.reasonings().filter(str.strip)))
    text = draw(texts.answers(tag=api.think_tag))
    model = pick(draw, *reasoning_models(api))
    literal = ThinkText(api.think_profile(model), (Part("text", text),))
    return generator.answer(draw, api, (native, Text(text)), literal, asked=model, mode=mode)


def has_citations(api: Api) -> bool:
    """Return True if answers of an API may have citations."""
    return answers_plainly(api) and GENERATORS[api.wire].cites(api)


def citing(draw: DrawFn, api: Api, mode: Mode) -> Answer:
    """Draw an answer with citations.

    It has no think blocks, because no source shows how offsets after a block count.
    """
    return GENERATORS[api.wire].answer(draw, api, draw(_cited_blocks(api)), mode=mode)


def _think_text(draw: DrawFn, api: Api) -> ThinkText:
    """Draw a text of one of the models. Models that think between tags are drawn more often."""
    possible = profiles(api)
    profile = pick(draw, *possible, *(each for each in possible if each != "off"))
    return draw(think_texts(profile, api.think_tag, functools.partial(ways_of, api)))


def _calls(draw: DrawFn, api: Api, think: ThinkText) -> tuple[Call, ...]:
    return tuple(answers.call(draw, api, number) for number in range(1 + either(draw))) if think.calls else ()


def _ended(draw: DrawFn, answer: Answer) -> Answer:
    """Return an answer. If its think block is cut off, it gets the finish word for the token limit."""
    sent = GENERATORS[answer.api.wire].sent_words(answer.api)
    words = [word for word, reason in sent.items() if reason == "length"]
    is_cut_off = answer.think is not None and answer.think.is_cut_off
    return replace(answer, word=pick(draw, *words)) if is_cut_off and words else answer


@st.composite
def _all_blocks(draw: DrawFn, api: Api) -> tuple[Block, ...]:
    return GENERATORS[api.wire].blocks(draw, api)


# Kept, because creating a strategy costs more than drawing from it.
@functools.cache
def _short_texts(api: Api) -> SearchStrategy[str]:
    return texts.answers(2).filter(functools.partial(_is_text, api))


@functools.cache
def _cited_blocks(api: Api) -> SearchStrategy[tuple[Block, ...]]:
    return _blocks(api).filter(_is_cited)


@functools.cache
def _blocks(api: Api) -> SearchStrategy[tuple[Block, ...]]:
    return _all_blocks(api).filter(functools.partial(_are_plain, api))


def _are_plain(api: Api, blocks: tuple[Block, ...]) -> bool:
    has_field = any(isinstance(block, Reasoning) for block in blocks)
    return has_field or _is_text(api, "".join(block.text for block in blocks if isinstance(block, Text)))


def _is_text(api: Api, text: str) -> bool:
    """Return True if no part of a text counts as reasoning for the models that may send it.

    If the API has models without think tags, only they send it. For other models, a closing tag that comes first may
    end a block that the prompt has opened.
    """
    if "off" in profiles(api):
        return True
    is_whole = think_tags.split(text, "leading", api.think_tag) == (text, [])
    return is_whole and not think_tags.closes_unopened(text, api.think_tag)


def _is_cited(blocks: tuple[Block, ...]) -> bool:
    return any(isinstance(block, Text) and block.citations for block in blocks)
