"""Files of known deviations: all mistakes are reported at once, each with its line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from llm_conformance import toml_files
from llm_conformance.judging import deviations_file
from llm_conformance.judging.known import links
from llm_conformance.yaml_files import BadFileError
from tests.test_deviations import REST, RULES, SCENARIOS, entry


def refusal(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "known.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadFileError) as refused:
        deviations_file.load(path, RULES, SCENARIOS)
    return [str(problem).partition("known.toml:")[2] for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("[[deviation]]\nrule = ", ["2: not valid TOML: Invalid value (at end of document)"]),
        ("[[deviations]]\n", ["1: deviations: no such key; did you mean deviation?"]),
        (
            '\n[[deviation]]\nrule = "MSG-2"\nscenario = "openai/one"\nreason = " "\nlink = "#7"\n',
            [
                "5: reason: is empty; say why the adapter deviates",
                "6: link: must be the URL (https://...) of an issue or a page about the deviation",
            ],
        ),
        (
            f"[[deviation]]\n{entry('MSG-9', 'openai/three')}{REST}",
            [
                "2: MSG-9: no such rule; did you mean MSG-2 or MSG-1? `llm-conformance list rules` lists them all",
                "3: openai/three: no such scenario; did you mean openai/two? "
                "`llm-conformance list scenarios` lists them all",
            ],
        ),
        (
            f"[[deviation]]\n{entry(versions='2.x')}{REST}",
            ["4: versions: '2.x' is not a version specifier; write one like '<2.1' or '>=1.4,<1.6'"],
        ),
        (
            f"[[deviation]]\n{entry(scenario='openai/*')}{REST}[[deviation]]\n{entry(mode='json')}{REST}",
            ["6: openai/one: redundant, the entry in line 1 covers it; remove this one"],
        ),
        (
            f"[[deviation]]\n{entry(mode='json')}{REST}[[deviation]]\n{entry(scenario='openai/*')}{REST}",
            ["7: openai/*: also covers the entry in line 1; keep one"],
        ),
        (
            f"[[deviation]]\n{entry(mode='json', method='stream')}{REST}",
            ["5: method: stream is not a method of the mode json"],
        ),
        ("[deviation]\n", ["1: deviation: write [[deviation]], in double brackets, above each entry"]),
        (
            f"[[deviation]]\n{entry(message='KeyError')}{REST}[[deviation]]\n{entry(message='KeyError in a.py')}{REST}",
            [
                "7: openai/one with 'KeyError in a.py': redundant, the entry in line 1 covers it; remove this one",
            ],
        ),
        (
            f"[[deviation]]\n{entry(message='a…c')}{REST}[[deviation]]\n{entry(scenario='openai/*')}{REST}",
            ["7: openai/*: also covers the entry in line 1; keep one"],
        ),
        (
            f'[[deviation]]\n{entry()}reason = "because"\njudgement = "arguable"\n',
            [
                "1: the entry: `link` is missing; if nobody has reported it, `report` names a text",
                "1: the entry: `argument` is missing",
            ],
        ),
        (
            f'[[deviation]]\n{entry()}{REST}report = "a.md"\nreproduction = "../a.py"\n',
            [
                '7: reproduction: must be a path below this folder, and is "../a.py"',
                "1: the entry: has `link` and `report`; keep one",
            ],
        ),
        (
            f'[[deviation]]\n{entry()}reason = "because"\nreport = "no.md"\nreproduction = "no/no.py"\n',
            ["5: report: there is no file no.md", "6: reproduction: there is no file no/no.py"],
        ),
        (
            f"[[deviation]]\n{entry(message=' ')}{REST}",
            ["4: message: is empty; write a part of the message of the failure, or leave it out"],
        ),
        (
            f'[[deviation]]\n{entry()}reason = "because"\nlink = "https://github.com/owner/name"\n',
            ["5: link: the front page of a repository; name an issue, a pull request, or a line"],
        ),
        (
            f"[[deviation]]\n{entry()}{REST}[[deviation]]\n{entry()}{REST}",
            ["6: openai/one: redundant, the entry in line 1 covers it; remove this one"],
        ),
        (
            f"[[deviation]]\n{entry()}{REST}[[deviation]]\n{entry(scenario='openai/on[e]')}{REST}",
            ["6: openai/on[e]: redundant, the entry in line 1 covers it; remove this one"],
        ),
    ],
)
def test_all_problems_of_a_file_are_reported(tmp_path: Path, text: str, problems: list[str]) -> None:
    assert refusal(tmp_path, text) == problems


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"none\.toml:1: cannot be read: No such file"):
        deviations_file.load(tmp_path / "none.toml", RULES, SCENARIOS)


def test_an_entry_says_sometimes_or_nothing(tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, f"[[deviation]]\nsometimes = false\n{entry()}{REST}")
    assert "sometimes" in problem


def test_lists_that_make_too_many_deviations_are_refused(tmp_path: Path) -> None:
    many = [f"openai/{number}" for number in range(100)]
    (problem,) = refusal(tmp_path, f"\n[[deviation]]\n{entry(many, many)}{REST}")
    says = (
        "its rules times globs times messages make more than 5,000 with those above it; write wider globs, or several"
    )
    assert problem == f"2: {says} files"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"a = {'[' * 100_000}", "cannot be read: maximum recursion depth exceeded"),
        (f"a = {'9' * 10_000}", "cannot be read: Exceeds the limit"),
        (f"a = '{'x' * 2**24}'", "is larger than 16,777,216 bytes"),
    ],
    ids=["lists in lists", "a long number", "a long text"],
)
def test_a_file_that_python_cannot_read_is_explained(tmp_path: Path, text: str, problem: str) -> None:
    assert refusal(tmp_path, text)[0].startswith(f"1: {problem}")


def test_values_of_several_lines_have_the_line_where_they_begin() -> None:
    lists = '# a \' comment [\n[[table]] # "\na = [\n  \']\', # [\n  "\\"]",\n]\n'
    text = lists + 'b = """\n[x]""""\nc = \'\'\'\n{\'\'\'\n\n[other]\nd = {e = 1}\n'
    tomllib.loads(text)
    places = {
        ("table", 0): 2,
        ("table", 0, "a"): 3,
        ("table", 0, "b"): 7,
        ("table", 0, "c"): 9,
        ("other", "d", "e"): 13,
    }
    assert {place: toml_files.line_of(text, place) for place in places} == places


INSTEAD = "name an issue, a pull request, or a line"


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("https://github.com/owner/name", f"the front page of a repository; {INSTEAD}"),
        ("https://www.github.com/owner/name/#readme", f"the front page of a repository; {INSTEAD}"),
        ("https://github.com/owner", f"the front page of a repository; {INSTEAD}"),
        ("https://github.com/owner/name/tree/main/src", f"the front page of a repository; {INSTEAD}"),
        ("https://github.com/owner/name/blob/main/a.py", f"a file without a line; {INSTEAD}"),
        ("https://gitlab.com/owner/name/-/blob/main/a.py", f"a file without a line; {INSTEAD}"),
        ("https://codeberg.org/owner/name/src/branch/main/a.py", f"a file without a line; {INSTEAD}"),
        ("https://raw.githubusercontent.com/owner/name/main/a.py", f"a file without a line; {INSTEAD}"),
        ("https://github.com/owner/name/pulls", f"a list of pulls; {INSTEAD}"),
        ("https://pypi.org/project/name/", f"the page of a package; {INSTEAD}"),
        (
            "https://mypkg.dev/",
            f"the front page of a host; {INSTEAD}, or the page of the documentation that says it",
        ),
        ("https://github.com/owner/name/issues/7", None),
        ("https://github.com/owner/name/pull/7#discussion_r1", None),
        ("https://github.com/owner/name/discussions/7", None),
        ("https://github.com/owner/name/commit/abc", None),
        ("https://github.com/owner/name/blob/main/a.py#L7-L9", None),
        ("https://github.com/owner/name/blob/main/README.md#limits", None),
        ("https://gitlab.com/group/sub/name/-/issues/7", None),
        ("https://gitlab.com/owner/name/-/blob/main/a.py#L7", None),
        ("https://codeberg.org/owner/name/src/branch/main/a.py#L7", None),
        ("https://bitbucket.org/owner/name/src/main/a.py#lines-7", None),
        ("https://github.com/owner/name/wiki/Limits", None),
        ("https://mypkg.dev/docs/limits", None),
        ("https://mypkg.dev/?id=7", None),
        ("https://mypkg.github.io/limits", None),
    ],
)
def test_a_link_leads_to_where_the_deviation_is_written_down(link: str, problem: str | None) -> None:
    assert links.problem(link) == problem


@pytest.mark.parametrize("wrong", ['"cy"', "100", '""', '"-1"'])
def test_a_wrong_effort_of_a_file_is_an_error(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(f"examples = {wrong}\n[[deviation]]\n{entry()}{REST}", "utf-8")
    with pytest.raises(BadFileError, match=r"known.toml:1: examples: must be "):
        deviations_file.load(path, RULES, SCENARIOS)


def test_entries_of_one_rule_for_two_recordings_that_a_run_does_not_have_do_not_repeat_each_other(
    tmp_path: Path,
) -> None:
    path = tmp_path / "known.toml"
    globs = ("langchain-openai/tests/a", "langchain-openai/tests/b")
    path.write_text("".join(f"[[deviation]]\n{entry(scenario=each)}{REST}\n" for each in globs), "utf-8")
    assert len(deviations_file.load(path, RULES, SCENARIOS, {"langchain-openai"})) == 2
