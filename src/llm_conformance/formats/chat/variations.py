"""The variations of OpenAI-shaped chat completions. The usual ways are those of OpenAI's own API.

The ways of some variations are lists of fields (`fields.py`): the role and all empty fields of a delta, such as
`role, content empty, refusal null`.
"""

from __future__ import annotations

from llm_conformance.generate.variations import EMPTY, Variation, emptiness

NOTHING = "nothing"
"""The way that stands for an empty list of fields."""

COUNTS = Variation(
    "counts", "whether an answer that is not streamed has token counts", "given", ("given", "absent", "null")
)
NO_TEXT = emptiness("no text", "the content of a message without text and calls", "empty")
NO_TEXT_BESIDE_CALLS = emptiness("no text beside calls", "the content of a message that has calls only", "null")
NO_CALLS = emptiness("no calls", "the calls of a message that has none")
NO_ANNOTATIONS = emptiness("no annotations", "the annotations of a message that has none", "empty")
NO_REFUSAL = emptiness("no refusal", "the refusal of a message that has none", "null")
REASONING_FIELDS = Variation(
    "reasoning fields", "the fields of a message with reasoning, and those that are there without any", ""
)
NO_REASONING = Variation("no reasoning", "the reasoning fields of a message that has none", NOTHING)
FIELDS_OF_THE_STREAM = Variation("reasoning fields of a stream", "the fields of a delta that have its reasoning", "")
ANNOTATION = Variation(
    "kind of annotation",
    "what annotations of a place in the text are",
    "none",
    ("none", "url_citation", "document_citation"),
)
CHOICES = Variation(
    "choices", "whether there may be other choices beside the answer, if asked for", "one", ("one", "several")
)
REFUSALS = Variation("refusals", "whether a refusal has a field of its own", "never", ("never", "given"))
NATIVE_FINISH = Variation(
    "native finish word",
    "the word of the provider behind a gateway, beside the finish word of the gateway, such as `end_turn for stop`",
    "absent",
)
BODY = (
    *(COUNTS, NO_TEXT, NO_TEXT_BESIDE_CALLS, NO_CALLS, NO_ANNOTATIONS, NO_REFUSAL, REASONING_FIELDS, NO_REASONING),
    *(FIELDS_OF_THE_STREAM, CHOICES, REFUSALS, ANNOTATION, NATIVE_FINISH),
)

WITH_CONTENT = "with content"
FIRST_DELTA = Variation(
    "first delta",
    "the fields of a first delta without content; or it has content, with or without a role",
    "role, content empty, refusal null",
)
WITHOUT_A_ROLE = "with content, without a role"
BESIDE_TEXT = Variation("beside text", "the fields without content of a delta with text", NOTHING)
BESIDE_REASONING = Variation("beside reasoning", "the fields without content of a delta with reasoning", NOTHING)
BESIDE_CALLS = Variation("beside calls", "the fields without content of a delta with calls", NOTHING)
BESIDE_ANNOTATIONS = Variation("beside annotations", "the fields without content of a delta with annotations", NOTHING)
BESIDE_REFUSAL = Variation("beside a refusal", "the fields without content of a delta with a refusal", NOTHING)
BESIDE_DETAILS = Variation(
    "beside details", "the fields without content of a delta with nothing but details of reasoning", NOTHING
)
NO_EMPTY_DELTAS = "none"
EMPTY_DELTAS = Variation("empty deltas", "the fields of deltas without content amid a stream", NO_EMPTY_DELTAS)
TOGETHER = Variation(
    "reasoning and text",
    "whether a delta may have the end of the reasoning and the beginning of the text",
    "apart",
    ("apart", "together"),
)
ANNOTATIONS = Variation(
    "place of annotations",
    "where a stream has its annotations",
    "at the finish",
    ("before text", "with text", "after text", "at the finish"),
)
DELTAS = (
    *(FIRST_DELTA, BESIDE_TEXT, BESIDE_REASONING, BESIDE_CALLS, BESIDE_ANNOTATIONS, BESIDE_REFUSAL, BESIDE_DETAILS),
    *(EMPTY_DELTAS, TOGETHER, ANNOTATIONS),
)

_FINISHES = ("apart", WITH_CONTENT, "twice", "missing")
FINISH = Variation("finish of a stream", "whether the finish word has a chunk of its own", "apart", _FINISHES)
FINISH_AFTER_CALLS = Variation("finish after calls", "the same for an answer with calls", "apart", _FINISHES)
FINISH_OF_AUDIO = Variation("finish of audio", "the same for a spoken answer", "missing", _FINISHES)
FINISH_DELTA = Variation("finish delta", "the fields of a delta beside the finish word", NOTHING)
NO_FINISH = emptiness("no finish word", "the finish word of chunks that have none", "null")
NO_FINISH_OF_AUDIO = emptiness("no finish word beside audio", "the same for a spoken answer")
COUNTS_OF_A_STREAM = Variation(
    "counts of a stream",
    "which chunks have token counts",
    "apart",
    ("apart", "at the finish", "at the finish and apart", "after the finish", "always", "now and then", "never"),
)
PLACE_OF_COUNTS = Variation(
    "place of the counts of a stream",
    "the fields of a chunk with choices that have token counts",
    "usage",
    ("usage", "x_groq", "choice", "usage and choice", "usage and x_groq"),
)
NO_COUNTS = emptiness("no counts in a chunk", "the counts of chunks that have none", "null")
CHOICES_OF_COUNTS = emptiness("choices beside the counts", "the choices of a chunk with token counts only", "empty")
FIRST_CHUNK = Variation(
    "first chunk", "whether the first chunk has choices", "with choices", ("with choices", "without choices")
)
MESSAGE_SO_FAR = Variation(
    "message so far",
    "whether each chunk has the whole message so far, beside its delta",
    "absent",
    ("absent", "in each chunk"),
)
END_MARKER = Variation("end marker", "whether [DONE] ends a stream", "sent", ("sent", "missing"))
CHUNKS = (
    *(FINISH, FINISH_AFTER_CALLS, FINISH_OF_AUDIO, FINISH_DELTA, NO_FINISH, COUNTS_OF_A_STREAM, PLACE_OF_COUNTS),
    *(NO_FINISH_OF_AUDIO, NO_COUNTS, CHOICES_OF_COUNTS, FIRST_CHUNK, MESSAGE_SO_FAR, END_MARKER),
)

NO_ARGUMENTS = Variation(
    "call without arguments", "the arguments of a call that has none", "an object", ("an object", "empty")
)
TYPE = Variation("type of a call", "the type of a call of a stream", "given", ("given", *EMPTY))
INDEXED = Variation(
    "calls of a message", "whether the calls of a message have an index", "unnumbered", ("numbered", "unnumbered")
)
INDEX = Variation(
    "numbers of calls", "the index of the calls of a stream", "from 0", ("from 0", "from 1", "always 0", *EMPTY[:2])
)
PIECES = Variation(
    "pieces of a call",
    "how a stream sends a call: whole, or in pieces of which the first has arguments or not",
    "first without arguments",
    ("first without arguments", "first with arguments", "whole"),
)
FIRST_ARGUMENTS = emptiness("first piece of a call", "the arguments of a first piece that has none", "empty")
LATER_PIECES = Variation(
    "later pieces of a call", "the fields besides arguments and index, with those of the first piece", NOTHING
)
EMPTY_PIECES = Variation(
    "empty pieces of a call", "whether there are later pieces without arguments", "none", ("none", "some")
)
ORDER = Variation(
    "order of calls",
    "how the pieces of several calls follow each other",
    "one after the other",
    ("one after the other", "interleaved", "together"),
)
CALLS = (NO_ARGUMENTS, TYPE, INDEXED, INDEX, PIECES, FIRST_ARGUMENTS, LATER_PIECES, EMPTY_PIECES, ORDER)

CONTENT = Variation(
    "content", "whether the content of a message without reasoning is a text or a list of parts", "text"
)
TEXT_AFTER_PARTS = Variation(
    "text after thinking", "whether the text of a stream is a list of parts, too", "text", ("text", "parts")
)
THINKING = Variation(
    "parts of thinking",
    "whether all reasoning is one text of a thinking part",
    "one text",
    ("one text", "several texts", "several parts"),
)
END_OF_THINKING = Variation(
    "end of thinking", "whether a stream has a thinking part without texts at its end", "none", ("none", "empty part")
)
CLOSED = Variation("closed", "whether a thinking part says that it is closed", "absent", ("absent", "true"))
PARTS = (CONTENT, TEXT_AFTER_PARTS, THINKING, END_OF_THINKING, CLOSED)

VARIATIONS = (*BODY, *DELTAS, *CHUNKS, *CALLS, *PARTS)
