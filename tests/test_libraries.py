"""`llm-conformance run LIBRARY` judges what is installed, and says how it differs from the known findings."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from llm_conformance.adapter import libraries, loader
from llm_conformance.adapter.declarations import BadAdapterError
from llm_conformance.adapter.libraries import Library, NotHereError
from llm_conformance.cli.main import USAGE_ERROR, main
from llm_conformance.cli.run import known_findings
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.wire.providers.table import table
from peers.faults import standing
from tests.shell import sh
from tests.test_reports import document, result

# A stand-in for the library `groq`: it sends what it is told, and gives back what came as attributes. It loses the
# text of each message, and streams nothing.
GROQ = """
__version__ = "1.6.0"
import httpx

class APIError(Exception):
    body = None

DefaultHttpxClient = httpx.Client

class Object(dict):
    __getattr__ = dict.get

class Groq:
    def __init__(self, *, base_url, api_key, timeout, max_retries, http_client):
        self._url, self._http = f"{base_url}/openai/v1/chat/completions", http_client
        self._headers = {"authorization": f"Bearer {api_key}"}
        self.chat = self.completions = self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._http.close()

    def create(self, *, model, messages, stream=False, extra_body=None, **params):
        if stream:
            return iter(())
        body = {"model": model, "messages": messages, **params, **(extra_body or {})}
        answer = self._http.post(self._url, json=body, headers=self._headers)
        if answer.is_error:
            raise APIError(answer.text)
        whole = answer.json(object_hook=Object)
        whole["choices"][0]["message"]["content"] = "lost"
        return whole
"""


@pytest.fixture
def groq(tmp_path: Path) -> Path:
    """Return a directory to be put on the path, with the stand-in and its metadata."""
    place = tmp_path / "packages"
    (place / "groq").mkdir(parents=True)
    (place / "groq" / "__init__.py").write_text(GROQ, "utf-8")
    described = place / "groq-1.6.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: groq\nVersion: 1.6.0\n", "utf-8")
    return place


def test_an_installed_library_is_judged_from_the_wheel_against_its_known_findings(
    installed: Path, groq: Path, tmp_path: Path
) -> None:
    command = (installed / "llm-conformance", "run", "groq", "--rule=MSG-2", "--rule=SHP-1")
    run = sh(*command, cwd=tmp_path, PYTHONPATH=str(groq))
    known = libraries.libraries()["groq"]
    assert run.returncode == 1, run.stdout + run.stderr
    head, _, rest = run.stdout.partition("test session starts")
    assert "groq 1.6.0 is judged through the shim " in head
    assert f"known findings were made with groq {known.release}: " in head
    assert "llm_conformance/peers/groq/deviations.toml" in head
    assert f"\ngroq 1.6.0 against the known findings of groq {known.release}\n  without a fault: " in rest
    assert "    * lost: MSG-2 (" in rest.partition("\n  new: ")[2], run.stdout
    assert "--adapter=groq --scenario=" in rest, "the command that reproduces a failure"


def test_the_wheel_says_what_is_installed_and_how_to_install_the_rest(
    installed: Path, groq: Path, tmp_path: Path
) -> None:
    listed = sh(installed / "llm-conformance", "list", "--libraries", cwd=tmp_path, PYTHONPATH=str(groq)).stdout
    (line,) = (line for line in listed.split("\n") if line.startswith("  groq "))
    assert line.split() == ["groq", "groq", libraries.libraries()["groq"].release, "1.6.0", "groq:chat"]
    assert f"libraries: {len(libraries.libraries())}\n" in listed
    run = sh(installed / "llm-conformance", "run", "cohere", cwd=tmp_path)
    assert run.returncode == USAGE_ERROR
    assert "cohere is not installed in this environment; install with\n  pip install cohere\n" in run.stderr


@pytest.mark.parametrize("library", libraries.libraries().values(), ids=lambda library: library.name)
def test_a_library_says_what_it_is(library: Library) -> None:
    assert library.apis
    assert set(library.apis) <= {str(api) for api in table().values()}
    assert library.release == library.judged[next(iter(library.judged))]
    assert library.shim.is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "run: name what to judge: a library ("),
        (
            ["litelm"],
            "run litelm: no such library; did you mean litellm? `llm-conformance list --libraries` lists them",
        ),
        (["groq", "openai"], "run: one library at a time, not groq and openai"),
        (["groq", "--adapter=mypkg.py"], "run: name a library (groq) or an adapter (--adapter=mypkg.py), not both"),
        (["cohere", "-x"], "run cohere: the library cohere cannot be judged: cohere is not installed in this "),
    ],
)
def test_what_cannot_be_judged_is_one_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *arguments]) == USAGE_ERROR
    assert capsys.readouterr().err.startswith(f"llm-conformance: {message}")


def test_all_that_is_missing_is_named_with_its_extras(tmp_path: Path) -> None:
    (tmp_path / "requirements.in").write_text("no-such-kit[a,b]==1.0\nnor-this==2\npytest==1\n", "utf-8")
    with pytest.raises(NotHereError) as told:
        Library(tmp_path).check(tmp_path)
    assert str(told.value).endswith(
        "no-such-kit, nor-this are not installed in this environment; install with\n"
        "  pip install 'no-such-kit[a,b]' nor-this"
    )


def test_a_library_that_needs_a_newer_python_says_so(tmp_path: Path) -> None:
    (tmp_path / "requirements.in").write_text("# python 3.99\npytest==1\n", "utf-8")
    with pytest.raises(NotHereError, match=r"needs Python 3\.99 or newer, and this is 3\."):
        Library(tmp_path).check(tmp_path)


def test_an_adapter_of_ones_own_comes_before_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of the same name without an adapter, such as the library itself, comes behind, and is not imported."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    own = tmp_path / "cohere.py"
    own.write_text("raise RuntimeError\n", "utf-8")
    found = loader.library_named("cohere", tmp_path)
    assert found is not None
    assert found.name == "cohere"
    own.write_text("conformance_adapter = None\n", "utf-8")
    assert loader.library_named("cohere", tmp_path) is None
    assert loader.library_named("litelm", tmp_path) is None


def test_a_name_of_no_adapter_leads_to_the_libraries(tmp_path: Path) -> None:
    with pytest.raises(
        BadAdapterError, match=r"no library of `llm-conformance list --libraries`\); did you mean litellm"
    ):
        loader.load("litelm", tmp_path)
    with pytest.raises(BadAdapterError, match="did you mean google-genai"):
        loader.load("google-gemai", tmp_path)


def test_a_shim_that_does_not_fit_the_installed_release_says_so(
    tmp_path: Path, groq: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(groq), *sys.path])
    monkeypatch.delitem(sys.modules, "groq", raising=False)
    monkeypatch.delitem(sys.modules, "adapter", raising=False)
    (groq / "groq" / "__init__.py").write_text("", "utf-8")
    release = libraries.libraries()["groq"].release
    with pytest.raises(BadAdapterError, match=rf"made for groq {release}, and 1\.6\.0 is installed"):
        loader.load("groq", tmp_path)


NODE = """
import { createInterface } from "node:readline";
import { version } from "kit";
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ name: "kit", version, providers: ["openai:chat"] }));
}
"""


@pytest.fixture
def node_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return a Node library of the suite. The packages of the program that is judged are in another folder."""
    folder = tmp_path / "suite" / "kit"
    folder.mkdir(parents=True)
    described = {"library": "kit", "dependencies": {"aaa": "2.0.0", "kit": "1.0.0"}}
    (folder / "package.json").write_text(json.dumps(described), "utf-8")
    (folder.parent / "program.mjs").write_text("export const shared = true;\n", "utf-8")
    (folder / "adapter.mjs").write_text(f'import {{ shared }} from "../program.mjs";\n{NODE}', "utf-8")
    (folder / "deviations.toml").touch()
    monkeypatch.setattr(libraries, "libraries", lambda: {"kit": Library(folder)})
    return Library(folder)


def test_a_node_library_is_that_of_the_program_in_the_working_directory(node_library: Library, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.mkdir()
    assert (node_library.package, node_library.release) == ("kit", "1.0.0")
    with pytest.raises(NotHereError, match=r"kit, aaa are not installed in .*program or above; install with\n  npm"):
        node_library.check(program)
    for name, version in {"kit": "1.5.0", "aaa": "2.0.0"}.items():
        package = program / "node_modules" / name
        package.mkdir(parents=True)
        (package / "package.json").write_text(
            json.dumps({"name": name, "version": version, "type": "module", "exports": "./index.js"}), "utf-8"
        )
        (package / "index.js").write_text(f'export const version = "{version}";\n', "utf-8")
    assert node_library.installed(program / "below") == "1.5.0"
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    adapter = loader.load("kit", program)
    adapter.close()
    assert (adapter.spec, adapter.version) == ("kit", "1.5.0")
    assert sorted(path.name for path in program.iterdir()) == ["node_modules"], "nothing is written beside the program"


def known(line: int, reason: str, status: str, **more: object) -> dict[str, object]:
    fields = {"path": "d.toml", "line": line, "rule": "MSG-2", "scenario": "openai/*", "decides": True}
    said = {"link": "https://example.com/1", "judgement": "fault", "argument": None, "reproduction": None}
    return {**fields, **said, "reason": reason, "status": status, **more}


def test_the_comparison_says_what_is_still_there_what_is_gone_and_what_is_new(
    node_library: Library, tmp_path: Path
) -> None:
    report = document(
        result("openai/one", "expected", deviation=0),
        result("openai/one", "expected", deviation=1, mode="stream", method="stream"),
        result("openai/two", "expected", deviation=2),
        result("openai/new", "fail", cause="got nothing"),
        deviations=[
            *(known(1, "trimmed", "expected"), known(1, "trimmed", "expected", rule="STR-1")),
            *(known(5, "zero", "expected", judgement="by design"), known(9, "mended", "stale")),
            known(13, "old", "for others"),
        ],
    )
    of_the_page = standing(report)
    assert (of_the_page.right, of_the_page.judged) == (1, 4), "the page of the library counts alike"
    assert list(known_findings.after(node_library, tmp_path, report)) == [
        "",
        "kit None against the known findings of kit 1.0.0",
        "  without a fault: 1 of 4 conversations (the table counts what is by design or arguable as wrong)",
        "  still there: 2 of 4, the worst first",
        "    Something of the answer is dropped (lost):",
        "      * trimmed (2 conversations)",
        "      * zero (by design, 1 conversation)",
        "    `llm-conformance run --adapter=kit` shows these failures, with commands that repeat them",
        "  gone: 1, which does not fail the run",
        "    * mended",
        "  not asked, or not seen: 1, for other versions, for recordings, seen in some runs only, or left out of this "
        "run",
        "  new: 1; shown above",
        "    * lost: MSG-2 (1 conversation): got nothing",
    ]


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([result("openai/one", "pass"), result("openai/two", "stale", deviation=0)], 0),
        ([result("openai/one", "expected", deviation=0), result("openai/two", "stale", deviation=1)], 0),
        ([result("openai/one", "fail"), result("openai/two", "stale", deviation=0)], 1),
    ],
)
def test_a_known_finding_that_is_gone_does_not_fail_the_run(results: list[dict[str, object]], code: int) -> None:
    report = document(*results, deviations=[known(1, "trimmed", "expected"), known(5, "mended", "stale")])
    assert known_findings.exit_code(1, report) == code
    assert known_findings.exit_code(3, report) == 3


def test_the_known_findings_that_are_still_there_are_in_the_order_of_their_harm(
    node_library: Library, tmp_path: Path
) -> None:
    """In one harm, faults come before what is arguable and by design; then the most frequent comes first."""
    seen = [(0, "one"), (1, "one"), (2, "one"), (2, "two"), (3, "one"), (4, "one"), (5, "one")]
    report = document(
        *(result(f"openai/{scenario}", "expected", deviation=at) for at, scenario in seen),
        deviations=[
            known(1, "by design", "expected", judgement="by design"),
            known(2, "once", "expected"),
            known(3, "twice", "expected"),
            known(4, "arguable", "expected", judgement="arguable"),
            known(5, "its entry says so", "expected", harm="untraceable"),
            known(6, "the worst of its rules", "expected", rule="FIN-1"),
            known(6, "the worst of its rules", "stale", rule="MSG-1"),
        ],
    )
    harms = {id: catalogue()[id].rule.harm for id in ("MSG-1", "FIN-1")}
    assert harms == {"MSG-1": "leak", "FIN-1": "false success"}, "the stale entry of the worse harm does not count"
    lines = list(known_findings.after(node_library, tmp_path, report))
    assert lines[3 : lines.index("  gone: 0") - 1] == [
        "  still there: 6 of 6, the worst first",
        "    Something of the answer is dropped (lost):",
        "      * twice (2 conversations)",
        "      * once (1 conversation)",
        "      * arguable (arguable, 1 conversation)",
        "      * by design (by design, 1 conversation)",
        "    A failure looks like an answer (false success):",
        "      * the worst of its rules (1 conversation)",
        "    An id, a model, a time or the provider's own word is lost (untraceable):",
        "      * its entry says so (1 conversation)",
    ]


def test_no_command_is_named_if_no_known_finding_is_still_there(node_library: Library, tmp_path: Path) -> None:
    report = document(result("openai/one"), deviations=[known(1, "mended", "stale")])
    assert list(known_findings.after(node_library, tmp_path, report))[3:] == [
        "  still there: 0 of 1",
        "  gone: 1, which does not fail the run",
        "    * mended",
        "  new: 0",
    ]
