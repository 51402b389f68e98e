"""The provider table as a page to read.

python -m llm_conformance.provider_page docs/providers.md            write it
python -m llm_conformance.provider_page --check docs/providers.md    exit with 1 unless it is as written now
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from llm_conformance import pages, providers
from llm_conformance.providers import COUNTS, Provider

COMMAND = "python -m llm_conformance.provider_page docs/providers.md"
_HEAD = f"""\
# Providers

What is true of a provider and not of one conversation, as the suite holds it. This page is made from
`src/llm_conformance/providers/*.toml` by `{COMMAND}`; change those.

"""
_NOTE = """\
**Usage**: a canonical count is the sum of the provider's own fields; one with a `?` counts 0 when it is absent, without
the others the count is null; a part that exceeds its whole is null. **Finish**: a word that is not listed is unknown,
hence null. **Offsets**: the unit in which the provider counts its own annotation offsets. **Think**: models that put
reasoning into the text, between tags. **Replay**: what becomes of earlier reasoning in the next request.

A stream is whole when it has said its finish word, or has sent the marker that the table says it ends with.

In every format an error object makes the end an error, whatever came before it and under whatever status; a refusal
makes the finish content_filter, whatever the finish word says.
"""


def page() -> str:
    """Return the whole page."""
    rows = list(providers.table().values())
    return _HEAD + "\n".join((*_overview(rows), "", _NOTE, *(line for row in rows for line in _section(row))))


def _overview(rows: list[Provider]) -> Iterator[str]:
    yield "| API | called at | wire | reasoning in | offsets | ends with | replay |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        cells = (
            f"[`{row}`](#{str(row).replace(':', '')})",
            f"`{row.base_urls[0]}{row.path}`",
            f"`{row.wire}`",
            _listed(row.reasoning_fields),
            row.offset_unit,
            f"`{row.end_marker}`" if row.end_marker else "a finish word only",
            row.replay.policy,
        )
        yield f"| {' | '.join(cells)} |"


def _section(row: Provider) -> Iterator[str]:
    yield from (f"## {row}", "", f"{row.title}.", "")
    yield f"* **Base URLs**: {_listed(row.base_urls)}"
    paths = dict.fromkeys((row.path, row.stream_path, *row.other_paths))
    yield f"* **Paths**: {_listed(tuple(paths))}"
    key = _listed(row.key_variables) if row.key_variables else "none is needed"
    yield f"* **Key**: {key}" + (f"; prices: {row.pricing}" if row.pricing else "")
    yield f"* **Tool arguments** are sent as {'text' if row.tool_arguments == 'text' else 'a JSON object'}."
    yield f"* **Error body**: {', '.join(f'{name} at `{pointer}`' for name, pointer in row.error.items())}"
    slot = f" in `{row.replay.slot}`" if row.replay.slot else ""
    yield f"* **Replay**: {row.replay.policy}{slot} ({row.replay.source})"
    if row.switches:
        yield f"* **Thinking switches**: {_listed(row.switches)}"
    if row.think:
        known = ", ".join(f"`{glob}` {profile}" for glob, profile in row.think.items())
        yield f"* **Think**: {known}" + ("" if row.think_tag == "think" else f", between `<{row.think_tag}>` tags")
    yield from ("", "| count | provider's fields |", "|---|---|")
    for count in COUNTS:
        if count in row.usage:
            fields = (
                " + ".join(f"`{field}`" for field in row.usage[count]).replace("+ `-", "- `") or "prompt + completion"
            )
            yield f"| `{count}` | {fields} |"
    yield from ("", "| finish word | means |", "|---|---|")
    for word, reason in row.finish.items():
        yield f"| `{word}` | {reason or 'null'} |"
    if row.notes:
        yield from ("", "To know:", "", *(f"* {note}" for note in row.notes))
    yield from ("", "Sources:", "", *(f"* {source}" for source in row.sources), "")


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values) or "none"


def main(arguments: list[str]) -> int:
    """Write or check the page; return 1 if the check finds another one."""
    parser = argparse.ArgumentParser(description="Make the provider table a page to read.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    options = parser.parse_args(arguments)
    problems = pages.settle(options.path, page(), options.check, "the provider table says", COMMAND)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
