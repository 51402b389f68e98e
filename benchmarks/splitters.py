"""How fast the suite and other libraries take think tags and server-sent events apart, on the same pieces.

    pip install pydantic-ai-slim any-llm-sdk litellm agno openai anthropic httpx-sse
    python benchmarks/splitters.py [--size KB] [think tags | events]

Each library gets a text in pieces of 1 character (byte) up to 64 kB, in tokens (words, and each tag or line by itself)
and in one piece. Prints the MB a second for each, or `wrong` if its result is not what the text was made of. A library
that does not take pieces has only the figure for one piece. Libraries that are not installed are left out, and their
names are printed. The last column is the slope of the time for pieces of 16 characters (bytes), from a quarter of the
text to all of it: 1 is linear, 2 is quadratic.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters import _framing
from adapters._think import ThinkSplitter
from llm_conformance.wire.framings.registry import named

SIZES = (1, 16, 256, 4096, 65536)
TOKEN = re.compile(r"</?think>|\s?[^\s<]+|\s+|<")
WORDS = "Two trains leave at 9:00; the slower one needs 3 < 4 hours, so x > 2. Größe: 12 µm, 好的。 "
EVENT = 'data: {"id": "1", "choices": [{"index": 0, "delta": {"content": "eine Zeile\u2028noch eine\u0085"}}]}\n\n'

Split = tuple[str, str]
"""Reasoning and text, without outer white space."""


@dataclass(frozen=True)
class Reader:
    """A way to take something apart.

    Attributes:
        name: The library, and the part of it that is measured.
        read: Takes the pieces and returns what it has found.
        whole: Whether it only takes a whole text.
    """

    name: str
    read: Callable[[Sequence[Any]], object]
    whole: bool = False


def reference_splitter() -> Iterator[Reader]:
    """Yield the splitter of the reference adapters."""

    def read(pieces: Sequence[str]) -> Split:
        splitter = ThinkSplitter("leading")
        found: dict[str, list[str]] = {"reasoning": [], "text": []}
        for piece in pieces:
            for kind, text in splitter.feed(piece):
                found[kind].append(text)
        for kind, text in splitter.end():
            found[kind].append(text)
        return "".join(found["reasoning"]).strip(), "".join(found["text"]).strip()

    yield Reader("reference adapters", read)


def pydantic_ai() -> Iterator[Reader]:
    """Yield both ways of pydantic-ai."""
    manager = importlib.import_module("pydantic_ai._parts_manager").ModelResponsePartsManager
    messages = importlib.import_module("pydantic_ai.messages")
    split = importlib.import_module("pydantic_ai._thinking_part").split_content_into_text_and_thinking
    parameters = importlib.import_module("pydantic_ai.models").ModelRequestParameters()
    tags = ("<think>", "</think>")

    def folded(parts: Sequence[Any]) -> Split:
        thoughts = [each.content for each in parts if isinstance(each, messages.ThinkingPart)]
        texts = [each.content for each in parts if isinstance(each, messages.TextPart)]
        return "".join(thoughts).strip(), "".join(texts).strip()

    def read(pieces: Sequence[str]) -> Split:
        parts = manager(model_request_parameters=parameters)
        for piece in pieces:
            for _ in parts.handle_text_delta(vendor_part_id="content", content=piece, thinking_tags=tags):
                pass
        return folded(parts.get_parts())

    yield Reader("pydantic-ai, streams", read)
    yield Reader("pydantic-ai, plain", lambda pieces: folded(split(pieces[0], tags)), whole=True)


@dataclass(frozen=True)
class Chunk:
    """The smallest object that any-llm accepts as a chunk, so that only its splitter is measured."""

    content: str | None
    reasoning: str = ""
    is_last: bool = False

    def model_copy(self, deep: bool) -> Chunk:
        """Return a copy; nothing in it can change."""
        return self


def any_llm() -> Iterator[Reader]:
    """Yield both ways of any-llm."""
    module = importlib.import_module("any_llm.utils.reasoning")

    async def chunks(pieces: Sequence[str]) -> AsyncIterator[Chunk]:
        for piece in pieces:
            yield Chunk(piece)
        yield Chunk(None, is_last=True)

    async def collect(pieces: Sequence[str]) -> Split:
        found = module.process_streaming_reasoning_chunks(
            chunks(pieces),
            lambda chunk: chunk.content,
            lambda chunk, content: replace(chunk, content=content),
            lambda chunk, reasoning: replace(chunk, reasoning=reasoning),
            lambda chunk: chunk.is_last,
            lambda chunk: chunk,
        )
        every = [each async for each in found]
        return "".join(each.reasoning for each in every).strip(), "".join(each.content or "" for each in every).strip()

    def plain(pieces: Sequence[str]) -> Split:
        message: dict[str, Any] = {"content": pieces[0]}
        module.normalize_reasoning_from_provider_fields_and_xml_tags(message)
        return message["reasoning"]["content"].strip(), message["content"].strip()

    yield Reader("any-llm, streams", lambda pieces: asyncio.run(collect(pieces)))
    yield Reader("any-llm, plain", plain, whole=True)


def litellm() -> Iterator[Reader]:
    """Yield what LiteLLM does with plain answers; it does not look for tags in the pieces of a stream."""
    module = importlib.import_module("litellm.litellm_core_utils.prompt_templates.common_utils")

    def plain(pieces: Sequence[str]) -> Split:
        reasoning, text = module._parse_content_for_reasoning(pieces[0])
        return (reasoning or "").strip(), (text or "").strip()

    yield Reader("litellm, plain", plain, whole=True)


def agno() -> Iterator[Reader]:
    """Yield what Agno does with plain answers."""
    extract = importlib.import_module("agno.utils.reasoning").extract_thinking_content
    yield Reader("agno, plain", lambda pieces: tuple(each.strip() for each in extract(pieces[0])), whole=True)


def reference_events() -> Iterator[Reader]:
    """Yield the client of the reference adapters, and the suite's own parser, which expected values depend on."""
    yield Reader("reference adapters (sseclient)", lambda pieces: list(_framing.events(pieces)))
    framing = named("server-sent events")

    def frames(pieces: Sequence[bytes]) -> list[str]:
        return [framing.data(each).decode().lstrip() for each in framing.frames(pieces[0])]

    yield Reader("the suite's own", frames, whole=True)


def sdk_events(package: str) -> Callable[[], Iterator[Reader]]:
    """Return a function that yields the decoder of an SDK made by Stainless."""

    def readers() -> Iterator[Reader]:
        decoder = importlib.import_module(f"{package}._streaming").SSEDecoder
        yield Reader(package, lambda pieces: [each.data for each in decoder().iter_bytes(iter(pieces))])

    return readers


def httpx_sse() -> Iterator[Reader]:
    """Yield httpx-sse on a response of httpx."""
    module, httpx = importlib.import_module("httpx_sse"), importlib.import_module("httpx")

    def read(pieces: Sequence[bytes]) -> list[str]:
        headers = {"content-type": "text/event-stream"}
        source = module.EventSource(httpx.Response(200, headers=headers, content=iter(pieces)))
        return [each.data for each in source.iter_sse()]

    yield Reader("httpx-sse", read)


TASKS: dict[str, Sequence[Callable[[], Iterator[Reader]]]] = {
    "think tags": (reference_splitter, pydantic_ai, any_llm, litellm, agno),
    "events": (reference_events, sdk_events("openai"), sdk_events("anthropic"), httpx_sse),
}


def made(task: str, size: int) -> tuple[str | bytes, object]:
    """Return a text of about `size` bytes, and the parts that it consists of."""
    if task == "think tags":
        half = WORDS * (size // 2 // len(WORDS.encode()))
        return f"<think>\n{half}\n</think>\n\n{half}", (half.strip(), half.strip())
    number = size // len(EVENT.encode())
    return (EVENT * number).encode(), [EVENT.removeprefix("data: ").strip("\n")] * number


def seconds(reader: Reader, pieces: Sequence[Any], wanted: object) -> float | None:
    """Return the CPU time of the quicker of two calls, or None if the result is wrong."""
    took = []
    for _ in range(2):
        started = time.process_time()
        try:
            found = reader.read(pieces)
        except Exception:
            return None
        took.append(time.process_time() - started)
        if found != wanted:
            return None
    return max(min(took), 1e-6)


def pieces_of(text: str | bytes, size: int | None) -> Sequence[str | bytes]:
    """Return a text in pieces of a size, or in tokens."""
    if size is None:
        return text.splitlines(keepends=True) if isinstance(text, bytes) else TOKEN.findall(text)
    return [text[at : at + size] for at in range(0, len(text), size)]


def columns(reader: Reader, task: str, size: int) -> Iterator[str]:
    """Yield the MB a second of a reader for each size of pieces, and the slope."""
    text, wanted = made(task, size)
    megabytes = len(text.encode() if isinstance(text, str) else text) / 1e6
    for length in (*SIZES, None, len(text)):
        if reader.whole and length != len(text):
            yield "-"
        else:
            took = seconds(reader, pieces_of(text, length), wanted)
            yield "wrong" if took is None else f"{megabytes / took:.1f}"
    times = []
    for part in (size // 4, size):
        text, wanted = made(task, part)
        times.append(seconds(reader, pieces_of(text, len(text) if reader.whole else SIZES[1]), wanted))
    yield "-" if None in times else f"{math.log2(times[1] / times[0]) / 2:.2f}"  # type: ignore[operator]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="`think tags` or `events`")
    parser.add_argument("--size", type=int, default=512, help="of each text in kB")
    options = parser.parse_args()
    for task in options.tasks or TASKS:
        print(f"\n{task}, MB a second in pieces of")
        print(f"{'':32}" + "".join(f"{each:>8}" for each in (*SIZES, "tokens", "whole", "slope")))
        for readers in TASKS[task]:
            try:
                found = list(readers())
            except ImportError as error:
                print(f"not installed: {error.name}")
                continue
            for reader in found:
                cells = "".join(f"{each:>8}" for each in columns(reader, task, options.size * 1000))
                print(f"{reader.name:32}{cells}", flush=True)


if __name__ == "__main__":
    main()
