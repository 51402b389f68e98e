"""Read the text of untrusted files: only regular files, and never more than a file may have.

A pipe would block, and a device such as /dev/zero has no end.
"""

from __future__ import annotations

import stat
import zlib
from pathlib import Path

from llm_conformance import limits
from llm_conformance.yaml_files.problems import BadFileError, FileProblem


def read_bytes(path: Path) -> bytes:
    """Return the content of a file. Raises BadFileError if it is missing, too large, or no regular file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadFileError(FileProblem(path, 1, "is a directory, a pipe or a device; put a file here"))
        with path.open("rb") as file:
            found = file.read(limits.BYTES + 1)
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    return _bounded(path, found)


def read_text(path: Path) -> str:
    """Return the text of a file. A file whose name ends in `.gz` is decompressed.

    Raises BadFileError if it is missing, too large, no regular file, not UTF-8, or not compressed in spite of `.gz`.
    """
    found = read_bytes(path)
    try:
        if path.suffix == ".gz":
            found = _bounded(path, _decompressed(found))
        return found.decode("utf-8")
    except zlib.error as error:
        raise BadFileError(FileProblem(path, 1, f"not compressed with gzip: {error}")) from error
    except UnicodeDecodeError as error:
        raise BadFileError(FileProblem(path, 1, f"not UTF-8 at byte {error.start}; write bytes as !!binary")) from error


def _bounded(path: Path, found: bytes) -> bytes:
    if len(found) > limits.BYTES:
        raise BadFileError(FileProblem(path, 1, f"larger than {limits.BYTES // 2**20} MiB; split the recording"))
    return found


def _decompressed(found: bytes) -> bytes:
    """Decompress gzip, up to one byte more than a file may have. Raises zlib.error."""
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    text = reader.decompress(found, limits.BYTES + 1)
    if len(text) <= limits.BYTES and not reader.eof:
        raise zlib.error("the file is cut off")
    return text
