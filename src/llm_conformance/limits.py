"""What a file may have at most. Scenarios and cassettes come in pull requests, so they are untrusted input.

Each bound is far above what is honest. The largest numbers of the 3,080 public recordings (docs/real-traffic.md),
counted in November 2026, are in brackets.
"""

from __future__ import annotations

BYTES = 16 * 1024 * 1024
"""Bytes of a file or a body, also when it is decompressed (15 million): a reader holds several copies of it."""

DEPTH = 64
"""Levels of lists and mappings in YAML (16): what reads a document calls itself for each level."""

VALUES = 1_000_000
"""Keys, values, lists and mappings in a YAML file (6,902): each takes some 200 bytes and 5 microseconds."""

NUMBER = 1_000
"""Characters of a number in YAML (22): Python needs quadratic time for longer ones, and cannot print all of them."""

INTERACTIONS = 10_000
"""Interactions of a bare cassette (56): each is held against a schema."""

BODIES = 128 * 1024 * 1024
"""Bytes of all bodies of a bare cassette, decompressed (15 million): a few bytes may be a large body when unpacked."""

FRAMES = 100_000
"""Frames of a stream, comments among them (1,507): an adapter is called for each of them, many times over."""

LINES_OF_A_FRAME = 10_000
"""Lines of a frame (37): parsers of server-sent events copy what they have for each further line."""

DEVIATIONS = 5_000
"""Known deviations of a file: rules times globs times messages of its entries (266 in one of a library)."""

TURNS = 64
"""Earlier answers of a conversation, those of earlier answers among them (33 requests in one recording): to judge a
conversation, each of them is asked for."""

PROBLEMS = 100
"""Problems of a file that are listed: nobody reads more of them, and each costs a validation."""

MESSAGE = 1_000
"""Code points of a message about a file: it may quote what the file has, such as a URL of a megabyte."""
