"""Parts of messages for people: suggestions for unknown names, counts with their nouns, commands to be typed."""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
import unicodedata
from collections.abc import Iterable, Sequence

MISSPELT = 0.8
"""From this similarity of `difflib` on, a word counts as a misspelt name: one wrong letter in six gives 0.83.

Names that only share a part, such as two classes that end in Error, have a similarity of about 0.6.
"""
_SIMILAR = 0.65
"""From this similarity on, a name may be what somebody meant: `rnu` for `run`, but not `nope` for `openai`."""


def closest(word: str, known: Iterable[str], most: int = 1, cutoff: float = _SIMILAR) -> list[str]:
    """Return the known names that are similar to a word, the closest first. Case is ignored."""
    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
    return [by_lower[each] for each in difflib.get_close_matches(word.lower(), by_lower, most, cutoff)]


def did_you_mean(word: str, known: Iterable[str], most: int = 1, cutoff: float = _SIMILAR) -> str:
    """Return the end of a message about an unknown name: similar known names as a question; "" if there are none."""
    found = closest(word, known, most, cutoff)
    return f"; did you mean {listed(found)}?" if found else ""


def did_you_mean_scenario(pattern: str, ids: Iterable[str]) -> str:
    """Do the same for a scenario id or a glob of ids. A wrong folder in a glob is corrected."""
    ids = list(ids)
    folder, slash, name = pattern.partition("/")
    folders = closest(folder, {id.partition("/")[0] for id in ids})
    corrected = [f"{folders[0]}/{name}"] if slash and folders and folders[0] != folder and "*" in name else []
    return f"; did you mean {corrected[0]}?" if corrected else did_you_mean(pattern, ids)


def did_you_mean_rule(pattern: str, ids: Iterable[str]) -> str:
    """Do the same for a rule id or a glob of ids. The name of a family is corrected to a glob."""
    ids = list(ids)
    is_family = any(id.startswith(f"{pattern}-") for id in ids)
    return f"; did you mean {pattern}-*?" if is_family else did_you_mean(pattern, ids, 3)


def no_such(kind: str, hint: str, command: str) -> str:
    """Return a message about an unknown name. `hint` is what `did_you_mean` returns; `command` lists all names."""
    return f"no such {kind}{hint or ';'} `{command}` lists them all"


def listed(names: Sequence[str], word: str = "or") -> str:
    """Return names in the form of a sentence: `a, b or c`."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s in the plural: `1 scenario`, `2 scenarios`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def command_line(words: Iterable[str]) -> str:
    """Return words as a command line for the shell of this system."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def printable(text: str) -> str:
    r"""Return a text with the characters escaped (`\x1b`) that a terminal or a browser obeys instead of showing them.

    These are control characters, line breaks, marks that turn the direction of writing, and halves of surrogate pairs.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


_MOST_NAMED = 3
_COMMON = frozenset("\t\n\r")
_ALIASES = {"\x00": "NULL", "\x1b": "ESCAPE", "\x7f": "DELETE", "\x85": "NEXT LINE", "\ufeff": "BYTE ORDER MARK"}
"""Names of characters that have no name in Unicode, or one that nobody uses."""
_CATEGORIES = {"Cc": "CONTROL", "Cs": "HALF A SURROGATE PAIR", "Co": "PRIVATE USE"}


def names_of_unseen(text: str) -> str:
    """Return the names of the invisible characters in a text, such as `U+0085 NEXT LINE`; "" if it has none.

    These are controls, unusual ends of lines and spaces, zero width characters, marks of direction and halves of
    surrogate pairs. Each is named once, and at most three are named.
    """
    if text.isprintable():
        return ""
    unseen = list(dict.fromkeys(each for each in text if not each.isprintable() and each not in _COMMON))
    names = [f"U+{ord(each):04X} {_name(each)}".rstrip() for each in unseen[:_MOST_NAMED]]
    more = len(unseen) - len(names)
    return listed([*names, f"{more} more"] if more else names, "and")


def _name(character: str) -> str:
    name = _ALIASES.get(character) or unicodedata.name(character, "")
    return name or _CATEGORIES.get(unicodedata.category(character), "")


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` code points. The middle of a longer text is replaced by dots."""
    if len(text) <= most:
        return text
    mark = " ... "
    end = most // 4
    return f"{text[: most - end - len(mark)]}{mark}{text[-end:]}"


_LONGEST_HINT = 240


def shortened_before_hint(text: str, most: int) -> str:
    """Return a text of about `most` code points. The parentheses at its end, which say what to do, stay whole.

    With a long hint, three quarters of `most` are left for what comes before it.
    """
    if len(text) <= most:
        return text
    hint = hint_of(text)
    return shortened(text.removesuffix(hint), max(most - len(hint), most * 3 // 4)) + hint


def hint_of(text: str) -> str:
    """Return the parentheses that a text ends with; "" if there are none, or if they are too long for a hint."""
    depth = 0
    for at in range(len(text) - 1, max(len(text) - _LONGEST_HINT, 0), -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            return text[at:] if text[at] == "(" else ""
    return ""
