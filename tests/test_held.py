"""The documentation has the table of `tests.held`, with the same numbers."""

from __future__ import annotations

from llm_conformance.locations import ROOT
from tests import held


def test_the_table_of_what_holds_is_the_one_of_the_batteries() -> None:
    assert held.table() in (ROOT / "docs" / "isolation.md").read_text("utf-8")
