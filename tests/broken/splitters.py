"""Broken adapters that cut reasoning out of text in ways that look right: what real libraries do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from adapters import _think
from adapters._chat import ChatDecoder
from adapters._think import Kind, ThinkSplitter
from llm_conformance.contract import Call
from tests.broken.kinds import Misunderstood

Pieces = Iterator[tuple[Kind, str]]


class WholeChunks(ThinkSplitter):
    """Looks for tags in pieces that are nothing but the tag."""

    def feed(self, piece: str) -> Pieces:
        if piece.strip() == "<think>":
            self._begin_block()
        elif piece.strip() == "</think>":
            self._state = "text"
        elif self._state == "reasoning":
            yield "reasoning", piece
        else:
            self._visible.append((self.position, self.position + len(piece)))
            yield "text", piece
        self.position += len(piece)

    def end(self) -> Pieces:
        yield from ()


class Impatient(ThinkSplitter):
    """Holds back a character too few."""

    def _drain_reasoning(self, final: bool) -> Pieces:
        held_back = _think._held_back(self._pending, self._close)
        if final or held_back < len(self._close) - 1:
            yield from super()._drain_reasoning(final)
        else:
            yield "reasoning", self._take(len(self._pending))


class AnyCase(ThinkSplitter):
    """Ignores case as Python does without `re.A`: a Kelvin sign is a k."""

    def feed(self, piece: str) -> Pieces:
        before = len(piece)
        yield from super().feed(re.sub("</?think>", lambda found: found[0].replace("\u212a", "k"), piece, flags=re.I))
        assert before == len(piece)


class Splitting(ChatDecoder):
    splitter: type[ThinkSplitter]

    def __init__(self, call: Call, **options: Any) -> None:
        super().__init__(call, **options)
        self._splitter = self.splitter(call.think_profile)


class SplittingByWholeChunks(Splitting):
    splitter = WholeChunks


class SplittingImpatiently(Splitting):
    splitter = Impatient


class SplittingInAnyCase(Splitting):
    splitter = AnyCase


class TagsComparedWithWholeChunks(Misunderstood):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3", "ANN-2", "ANN-5")
    says = "<think>|which is reasoning"
    decoders = MappingProxyType({ChatDecoder: SplittingByWholeChunks})


class TagHeldBackACharacterTooFew(Misunderstood):
    fails = ("RSN-1", "RSN-3", "MSG-2")
    says = "the reasoning"
    decoders = MappingProxyType({ChatDecoder: SplittingImpatiently})


class TagInAnyCaseOfUnicode(Misunderstood):
    """Without `fails`: only generated texts have a tag with a Kelvin sign."""

    decoders = MappingProxyType({ChatDecoder: SplittingInAnyCase})
