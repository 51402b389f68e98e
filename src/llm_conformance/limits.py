"""Limits for files. Scenarios and cassettes come in pull requests, so they are untrusted input.

Each limit is far above what honest files have. The highest numbers in the 3,080 public recordings
(docs/real-traffic.md), counted in November 2026, are in brackets.
"""

from __future__ import annotations

BYTES = 16 * 1024 * 1024
"""Bytes of a file or a body, also after decompression (15 million). A reader holds several copies of it."""

DEPTH = 64
"""Levels of lists and mappings in YAML (16). Code that reads a document recurses once for each level."""

VALUES = 1_000_000
"""Keys, values, lists and mappings in a YAML file (6,902). Each takes some 200 bytes and 5 microseconds."""

NUMBER = 1_000
"""Characters of a number in YAML (22). Python needs quadratic time for long ones, and cannot print all of them."""

INTERACTIONS = 10_000
"""Interactions of a bare cassette (56). Each is validated against a schema."""

BODIES = 128 * 1024 * 1024
"""Bytes of all decompressed bodies of a bare cassette (15 million). A few bytes may decompress to a large body."""

FRAMES = 100_000
"""Frames of a stream, including comments (1,507). The adapter reads each of them many times."""

LINES_OF_A_FRAME = 10_000
"""Lines of a frame (37). For each further line, parsers of server-sent events copy what they have read so far."""

DEVIATIONS = 5_000
"""Known deviations of a file (266 in a library's file). An entry counts as its rules times globs times messages."""

TURNS = 64
"""Earlier answers of a conversation (33 requests in a recording), including those of its earlier answers.

To judge the last answer, the suite first asks for all of these.
"""

PROBLEMS = 100
"""Problems of a file that are listed. Nobody reads more, and it takes time to find each."""

MESSAGE = 1_000
"""Code points of a message about a file. A message may quote the file, for example a URL of a megabyte."""
