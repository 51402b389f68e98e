"""The variations of OpenAI's responses."""

from __future__ import annotations

from llm_conformance.generate.block_ways import BLOCK_VARIATIONS
from llm_conformance.generate.variations import Variation, emptiness

ERROR = emptiness("error", "the field `error` of an answer", "null")
INCOMPLETE = emptiness("incomplete details", "the field `incomplete_details` of a complete answer", "null")
PHASE = Variation("phase", "the phase of a message", "absent", ("absent", "null", "final_answer", "commentary"))
ANNOTATIONS = emptiness("annotations", "the field `annotations` of a text without any", "empty")
LOGPROBS = emptiness("logprobs", "the field `logprobs` of a text", "empty")
PLACE = Variation("place of reasoning", "the field of an item that has the text", "summary", ("summary", "content"))
PARTS = Variation("parts of reasoning", "whether the text is in one part", "one", ("one", "several"))
CONTENT_OF_REASONING = emptiness("content of reasoning", "the field `content` of an item whose text is not there")
STATUS = Variation("status of reasoning", "whether items of reasoning have a status", "absent", ("absent", "given"))
SIGNATURE = Variation("encrypted content", "of an item of reasoning", "absent", ("absent", "given", "null", "empty"))
CALL_ID = Variation("id of a call item", "the field that has it", "id", ("id", "item_id"))
ITEM_VARIATIONS = (
    *(ERROR, INCOMPLETE, PHASE, ANNOTATIONS, LOGPROBS, PLACE, PARTS, CONTENT_OF_REASONING, STATUS, SIGNATURE, CALL_ID),
)

IN_PROGRESS = Variation("in progress", "whether there is an event that says so", "sent", ("sent", "missing"))
NUMBERS = Variation("numbers", "whether events and items are numbered", "given", ("given", "absent"))
OBFUSCATION = Variation("obfuscation", "of pieces of text", "given", ("given", "absent", "empty"))
BEGUN_SIGNATURE = Variation(
    "encrypted content of begun reasoning",
    "compared with that of the whole item",
    "other",
    ("other", "same", "absent", "null", "empty"),
)
BEGUN_CONTENT = emptiness("content of begun reasoning", "the field `content` of an item that begins")
BEGUN_PART = Variation("begun part", "its fields besides the text", "annotations", ("annotations", "nothing"))
LOGPROBS_OF_PIECES = emptiness("logprobs of pieces", "the field `logprobs` of a piece of text", "empty")
PART_DONE = Variation("end of a part", "whether an event says so", "sent", ("sent", "missing"))
PIECES_OF_ARGUMENTS = Variation(
    "pieces of arguments",
    "which events have arguments before the whole item",
    "pieces and whole",
    ("pieces and whole", "pieces", "whole"),
)
PARTS_OF_REASONING = Variation(
    "part events of reasoning",
    "the events around a text that is not a summary",
    "content_part",
    ("content_part", "reasoning_part", "missing"),
)
WHOLE_REASONING = Variation("whole reasoning", "whether an event repeats the text", "sent", ("sent", "missing"))
ENDS = Variation(
    "ends of items",
    "whether an item ends before the next begins",
    "in turn",
    ("in turn", "together at the end", "reasoning last"),
)
LAST_OUTPUT = Variation("output of the last event", "whether it has the items", "given", ("given", "empty"))
STREAM_VARIATIONS = (
    *(IN_PROGRESS, NUMBERS, OBFUSCATION, BEGUN_SIGNATURE, BEGUN_CONTENT, BEGUN_PART, LOGPROBS_OF_PIECES, PART_DONE),
    *(PIECES_OF_ARGUMENTS, PARTS_OF_REASONING, WHOLE_REASONING, ENDS, LAST_OUTPUT),
)

VARIATIONS = (*BLOCK_VARIATIONS, *ITEM_VARIATIONS, *STREAM_VARIATIONS)
