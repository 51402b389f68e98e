"""A mapping that keeps its values in a file. The exchanges of a report take megabytes for each hundred scenarios."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import IO, Any


class OnDisk(MutableMapping[str, Mapping[str, Any]]):
    """Keeps JSON values in a temporary file; only keys and file positions are in memory.

    The file is made for the first value and deleted with the mapping. Setting a value raises OSError if the disk is
    full.
    """

    def __init__(self) -> None:
        """Make an empty mapping."""
        self._places: dict[str, int] = {}

    @cached_property
    def _file(self) -> IO[bytes]:
        file = tempfile.TemporaryFile(prefix="llm-conformance-")  # noqa: SIM115 - closed with the mapping
        weakref.finalize(self, file.close)
        return file

    def __setitem__(self, key: str, value: Mapping[str, Any]) -> None:
        """Write a value. Raises OSError."""
        place = self._file.seek(0, os.SEEK_END)
        self._file.write(json.dumps(value).encode() + b"\n")
        self._places[key] = place

    def __getitem__(self, key: str) -> Mapping[str, Any]:
        """Read a value."""
        self._file.seek(self._places[key])
        value: Mapping[str, Any] = json.loads(self._file.readline())
        return value

    def __delitem__(self, key: str) -> None:
        """Forget a value. It stays in the file."""
        del self._places[key]

    def __iter__(self) -> Iterator[str]:
        """Return the keys."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._places)
