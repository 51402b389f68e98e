"""The reports of faults are ready to be filed: each says how to install the library, and quotes code that is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from llm_conformance.adapter.libraries import Library, libraries
from peers import reports
from peers.reports import Place

REPORTS = [(library, path) for library in libraries().values() for path in reports.texts(library)]


def packages(line: str) -> list[str]:
    """Return the names of what a command installs. Each has to have an exact release."""
    _, _, *wanted = line.rpartition(" && ")[2].replace("'", "").split(" ")
    matched = [re.fullmatch(r"(\S+?)(==|@)\d+(\.\w+)+", each) for each in wanted]
    assert all(matched), f"a release is not pinned: {line}"
    return [each[1] for each in matched if each]


@pytest.mark.parametrize(("library", "path"), REPORTS, ids=[f"{each.name} {path.stem}" for each, path in REPORTS])
def test_a_report_is_ready_to_be_filed(library: Library, path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# "), "no title"
    wanted = f"**Install:** `{reports.install_line(library)}`"
    lines = reports.install_lines(text)
    assert len(lines) == 1, f"write one line: {wanted}"
    assert packages(lines[0]) == list(library.judged), f"other packages than those of the library: {wanted}"
    for program in path.parent.glob(f"{path.stem}.*"):
        assert program == path or program.name in text, f"{program.name} is not named"
    assert bool(reports.places(text)) is ("**Where:**" in text), "no list of places below **Where:**"


def test_what_a_python_and_a_node_library_need() -> None:
    assert re.fullmatch(r"pip install groq==\S+", reports.install_line(libraries()["groq"]))
    assert re.fullmatch(r"npm install openai@\S+", reports.install_line(libraries()["openai-node"]))
    held_back = reports.install_line(libraries()["portkey-gateway"])
    assert held_back.startswith(
        "npm init --yes && npm pkg set overrides.@hono/node-server=1.14.1 && npm install @portkey-"
    )
    assert "'litellm[proxy]==" in reports.install_line(libraries()["litellm-proxy"]), "the shell reads brackets itself"


# Their commits are named, because we know no tag of theirs.
UNTAGGED = ("raceychan/aceai", "andrewyng/aisuite", "Mirascope/mirascope")


@pytest.mark.parametrize("library", libraries().values(), ids=lambda library: library.name)
def test_a_link_to_a_line_of_code_names_a_release_that_is_judged(library: Library) -> None:
    frozen = "".join((library.folder / name).read_text("utf-8") for name in library.frozen)
    releases = {first or second for first, second in re.findall(r'==([^\s;]+)|"version": "([^"]+)"', frozen)}
    entries = tomllib.loads(library.deviations.read_text("utf-8")).get("deviation", [])
    links = [each.get("link", "") for each in entries]
    places = {link for link in links if re.search(r"#L\d", link) and ".md#" not in link}
    of_releases = {link for link in places if set(re.findall(r"\d+(?:\.\d+)+\w*", link)) & releases}
    assert [each for each in places - of_releases if not any(name in each for name in UNTAGGED)] == []


PLACES = """# Title

**Where:**

* `lib/a.py:2`: `return None`, which has no id
* `lib/b.py:1`: `x = 1`

**Install:** `pip install lib==1`
"""


def test_the_places_of_a_report() -> None:
    assert reports.places(PLACES) == [Place("lib/a.py", 2, "return None"), Place("lib/b.py", 1, "x = 1")]
    assert reports.places("# Title\n") == []
    with pytest.raises(ValueError, match=r"write \* `package/module.py:12`"):
        reports.places(PLACES.replace(":2`", "`"))


def test_a_place_is_looked_up_in_the_installed_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library = Library(tmp_path / "lib")
    (library.folder / "reports").mkdir(parents=True)
    (library.folder / "reports" / "fault.md").write_text(PLACES, "utf-8")
    monkeypatch.setattr(reports, "libraries", lambda: {"lib": library})
    (tmp_path / "lib" / "a.py").write_text("def f():\n    return None\n", "utf-8")
    assert reports.main(["lib", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert told == "fault.md: there is no file lib/b.py\nlib: 2 places, 1 of them with other code\n"
    (tmp_path / "lib" / "b.py").write_text("\nx = 1\n", "utf-8")
    assert reports.main(["lib", str(tmp_path)]) == 1
    assert "fault.md: lib/b.py:1 is ``, without `x = 1`" in capsys.readouterr().out
    (tmp_path / "lib" / "b.py").write_text("x = 1\n", "utf-8")
    assert reports.main(["lib", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "lib: 2 places, 0 of them with other code\n"
