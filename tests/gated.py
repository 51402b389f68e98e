"""A user's project: an adapter for one provider, made from the reference adapters, with or without a fault."""

from __future__ import annotations

from pathlib import Path

CEREBRAS = """\
import dataclasses

from {package} import ReferenceAdapters


class Adapter(ReferenceAdapters):
    name = "mypkg"
    version = "{version}"

    def __init__(self):
        super().__init__()
        self.providers = ["cerebras:chat"]

    def parse(self, http, call):
        return self.spoil(super().parse(http, call))

    def spoil(self, response):
        return {spoilt}


conformance_adapter = Adapter
"""
GOOD = "response"
BROKEN = "dataclasses.replace(response, id='other') if response.tool_calls else response"
"""`parse` returns a wrong id for a response with a tool call."""


def write(directory: Path, spoilt: str = GOOD, version: str = "1.0", package: str = "llm_conformance.adapters") -> str:
    """Write the adapter, and return the name of its module."""
    (directory / "mypkg.py").write_text(CEREBRAS.format(spoilt=spoilt, version=version, package=package), "utf-8")
    return "mypkg"


def fill_in(path: Path) -> None:
    """Give every entry of a deviations file a reason and a link."""
    text = path.read_text("utf-8").replace('reason = ""', 'reason = "not mapped yet"')
    path.write_text(text.replace('link = ""', 'link = "https://example.com/7"'), "utf-8")
