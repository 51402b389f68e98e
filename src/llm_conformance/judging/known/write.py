"""Write a new file of known deviations from the failures of a run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.deviations import LISTS, WRITTEN_WITH, Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.known import links
from llm_conformance.judging.known.entries import Entry, entries
from llm_conformance.judging.known.globs import globs
from llm_conformance.judging.verdict import Verdict
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.rules.rule import Harm
from llm_conformance.templating import render

_COMMENT = 110
_LINE = 90
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_SAID = ("reason", "argument", "reproduction", "harm")
_AS_THEY_ARE: Mapping[str, str] = {}
_RESTRICTIONS = ("adapter", "versions", "mode", "method")


@dataclass(frozen=True)
class Told:
    """What the comments above an entry say about its rule: the harm to a user, and what a user notices."""

    harm: Harm
    noticed: str


def write(
    path: Path,
    verdicts: Iterable[Verdict],
    known: Deviations,
    stale: Collection[int],
    adapters: Sequence[AdapterUnderTest],
    harms: Mapping[str, Harm],
    ids: Collection[str],
    effort: Effort,
) -> int:
    """Write a new file that names every failure; return the number of entries without a reason.

    The `known` deviations of the run are kept with their reasons, except those at the positions in `stale`. `harms`
    maps the id of each rule to its harm, `ids` are the ids of all scenarios, and `effort` is the effort of the run.
    Raises FileExistsError if the file exists.
    """
    kept_from = {each.examples for each in known.listed}
    examples = _most_demanding([effort.name, *sorted(kept_from)] if effort.examples else sorted(kept_from))
    told = {id: Told(harm, catalogue()[id].noticed) for id, harm in harms.items()}
    return write_told(path, verdicts, known, stale, _names(adapters), told, ids, examples)


def write_told(
    path: Path,
    verdicts: Iterable[Verdict],
    known: Deviations,
    stale: Collection[int],
    names: Mapping[str, str | None],
    rules: Mapping[str, Told],
    ids: Collection[str],
    examples: str = "",
    called: Mapping[str, str] = _AS_THEY_ARE,
) -> int:
    """Do what `write` does for any kind of rules: `rules` maps their ids, in the order of families, to their comments.

    `names` maps the label of each adapter or server to its name in the entries; None if they do not name it. `examples`
    is the effort that the file states; "" for a server, which is judged without generated inputs. `called` maps methods
    to the words for them in comments.
    """
    harms = {id: each.harm for id, each in rules.items()}
    new = [_fields(each, names, rules, ids, called) for each in entries(verdicts, harms)]
    text = render("deviations.toml", kept=list(_kept(known, stale)), new=new, examples=examples, quoted=_quoted)
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return len(new)


def _kept(known: Deviations, stale: Collection[int]) -> Iterator[dict[str, Any]]:
    """Yield the entries of the known deviations without their stale parts."""
    for positions in known.by_entry.values():
        kept = [known.listed[at] for at in positions if at not in stale]
        if kept:
            lists = {name: list(dict.fromkeys(getattr(each, name) for each in kept)) for name in LISTS}
            yield {
                **{name: getattr(kept[0], name) for name in (*_RESTRICTIONS, *_SAID)},
                **({"judgement": kept[0].judgement} if kept[0].judgement != "fault" else {}),
                "sometimes": kept[0].sometimes,
                "link" if links.is_url(kept[0].link) else "report": kept[0].link,
                **{name: [value for value in values if value is not None] for name, values in lists.items()},
            }


def _most_demanding(examples: Iterable[str]) -> str:
    """Return the effort with the most examples. An effort that draws new examples in every run takes precedence."""
    efforts = [Effort.named(each) for each in examples] or [Effort.named(WRITTEN_WITH)]
    return max(efforts, key=lambda each: (not each.reproducible, each.examples)).name


def _names(adapters: Sequence[AdapterUnderTest]) -> Mapping[str, str | None]:
    """Map the label of each adapter to its unique name in entries; to None if there is only one adapter."""
    names = Counter(each.name for each in adapters)
    named = {each.label: each.name if names[each.name] == 1 else each.spec for each in adapters}
    return named if len(adapters) > 1 else dict.fromkeys(named)


def _fields(
    entry: Entry,
    names: Mapping[str, str | None],
    rules: Mapping[str, Told],
    ids: Collection[str],
    called: Mapping[str, str],
) -> dict[str, Any]:
    example, told = entry.example, rules[entry.rules[0]]
    shown = {example.message: example}
    for each in entry.joined:  # a different message may show a different fault
        shown.setdefault(each.example.message, each.example)
    return {
        "comments": [
            _in_one_line(f"{told.harm}: {told.noticed}"),
            *(
                _in_one_line(f"{each.rule} in {each.scenario}, {called.get(each.method, each.method)}: {each.message}")
                for each in shown.values()
            ),
        ],
        "rule": list(entry.rules),
        "scenario": globs(entry.scenarios, {*ids, *entry.scenarios}),
        "message": list(entry.messages),
        "adapter": names[entry.adapter],
        **dict(entry.restriction),
    }


def _in_one_line(text: str) -> str:
    line = " ".join(_UNPRINTABLE.sub(" ", secrets.hide(text)).split())
    return line if len(line) <= _COMMENT else f"{line[:_COMMENT]} ..."


def _quoted(value: str | Sequence[str]) -> str:
    """Return a string or a list of strings as TOML: a literal string if that reads better, else one with escapes."""
    if not isinstance(value, str):
        items = [_quoted(each) for each in value]
        if len(items) == 1 or sum(map(len, items)) <= _LINE:
            return items[0] if len(items) == 1 else f"[{', '.join(items)}]"
        return "[\n" + "".join(f"    {each},\n" for each in items) + "]"
    if '"' in value and "'" not in value and not _UNPRINTABLE.search(value):
        return f"'{value}'"
    # TOML's basic strings are those of JSON, except that DEL is escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
