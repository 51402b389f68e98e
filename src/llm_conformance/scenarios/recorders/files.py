"""Find files that may have recordings, and parse them. They are untrusted, so their unpacked size is limited, too."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from llm_conformance import limits, yaml_files
from llm_conformance.yaml_files import BadFileError, FileProblem

_JSON = (".json", ".har")
_YAML = (".yaml", ".yml")
SUFFIXES = (*_YAML, *_JSON)
"""The suffixes of files with recordings. `.gz` may follow."""

_PACKED = ".gz"
_ANY_FORMAT = 32 + zlib.MAX_WBITS
"""Tells zlib to detect gzip or deflate."""


def may_have_recordings(path: Path) -> bool:
    """Return True if a file's name ends in one of `SUFFIXES`, with or without `.gz`."""
    return path.name.removesuffix(_PACKED).endswith(SUFFIXES)


def is_always_a_cassette(path: Path) -> bool:
    """Return True for `.yaml`: such a file without recordings is an error. Other files may be something else."""
    return path.name.removesuffix(_PACKED).endswith(".yaml")


def stem_of(path: Path) -> str:
    """Return the name of a file without the suffixes in `SUFFIXES` and `.gz`."""
    return Path(path.name.removesuffix(_PACKED)).stem if may_have_recordings(path) else path.name


def parse(path: Path, text: str) -> Any:
    """Return the document in the text of a file. Raises BadFileError with the line at which the parser fails."""
    if not path.name.removesuffix(_PACKED).endswith(_JSON):
        return yaml_files.parse(path, text, of_recorder=True)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadFileError(FileProblem(path, error.lineno, f"not valid JSON: {error.msg}")) from error
    except (RecursionError, ValueError) as error:
        raise BadFileError(FileProblem(path, 1, f"not valid JSON: {error}")) from error


def decompressed(body: bytes) -> bytes:
    """Decompress a body that is compressed with gzip or deflate. If the body is cut off, return the part that there is.

    Raises ValueError if the result becomes too large, and zlib.error if the body is not compressed.
    """
    decompressor = zlib.decompressobj(_ANY_FORMAT)
    unpacked = decompressor.decompress(body, limits.BYTES)
    if not decompressor.eof and decompressor.unconsumed_tail:
        raise ValueError(_TOO_LARGE)
    return unpacked


_TOO_LARGE = f"larger than {limits.BYTES // 2**20} MiB when it is unpacked"
