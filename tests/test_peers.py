"""The folders of the peers are complete, and their deviations name existing rules and scenarios."""

from __future__ import annotations

import ast
import json
import re
import tomllib

import pytest

from llm_conformance.adapter.libraries import Library, libraries
from llm_conformance.corpus.manifest import packages
from llm_conformance.judging import deviations_file
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.scenarios import core_faults, load
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers.table import table
from peers import rediscovery

PEERS = list(libraries().values())


@pytest.fixture(scope="module")
def ids() -> set[str]:
    files, _ = load.find(CASSETTES)
    generated = {theme.scenario_id(api) for api in table().values() for theme in THEMES if theme.suits(api)}
    return generated | {load.id_of(path) for path in files} | {id for path in files for id in core_faults.ids_in(path)}


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_folder_pins_releases_and_its_deviations_are_valid(peer: Library, ids: set[str]) -> None:
    known = deviations_file.load(peer.deviations, catalogue.catalogue(), ids, [each.name for each in packages()])
    assert all(each.link.startswith("https://") or each.link.startswith("reports/") for each in known)
    assert peer.shim.is_file()
    if peer.is_node:
        package = json.loads((peer.folder / "package.json").read_text("utf-8"))
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["dependencies"].values())
        assert (peer.folder / "package-lock.json").is_file()
        assert peer.shim.suffix in (".mjs", ".toml")
    else:
        assert peer.shim.suffix in (".py", ".toml")
        assert all(re.fullmatch(r"\d+(\.\d+)+", version) for version in peer.judged.values()), "a release is not pinned"


@pytest.mark.parametrize("bug", rediscovery.bugs(), ids=lambda bug: f"{bug.peer} {bug.rule} {bug.name}")
def test_a_rediscovered_bug_names_what_there_is(bug: rediscovery.Bug, ids: set[str]) -> None:
    assert bug.rule in catalogue.catalogue()
    assert set(bug.scenarios) <= ids
    assert bug.peer in {peer.name for peer in PEERS}
    assert bug.shim.is_file()
    assert re.match(r"https://github\.com/[^/]+/[^/]+/(issues|pull|commit|blob)/", bug.link), "no issue or changelog"
    assert bug.reason.endswith(".")
    assert bug.method in ("", "complete", "stream")
    assert all(bug.releases)
    assert all(re.search(r"[=@]\d+(\.\w+)+$", each) for each in (*bug.broken, *bug.fixed)), "a release is not pinned"


def test_each_release_of_a_bug_has_an_environment_of_its_own() -> None:
    folders = [rediscovery.folder(bug, release) for bug in rediscovery.bugs() for release in bug.releases]
    assert sorted(folders) == sorted(set(folders))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ("2 fail", rediscovery.FAILS),
        ("2 pass, 4 fail, 1 blocked", rediscovery.FAILS),
        ("4 blocked", rediscovery.NOT_JUDGED),
        ("1 probe-failed", rediscovery.NOT_JUDGED),
    ],
)
def test_a_release_that_could_not_be_judged_has_not_failed(cells: str, told: str) -> None:
    assert rediscovery.result(1, f"strands 1.54.0\ncells: {cells}\n") == told


def test_a_release_passes_only_if_a_cell_does() -> None:
    assert rediscovery.result(0, "cells: 2 pass\n") == rediscovery.PASSES
    assert rediscovery.result(0, "cells: 2 vacuous, 1 probe-failed\n") == rediscovery.NOT_JUDGED
    assert rediscovery.result(2, "cells: 2 pass\n") == "exit code 2"


@pytest.mark.parametrize(
    ("said", "good"),
    [
        ((rediscovery.FAILS, rediscovery.PASSES), True),
        ((rediscovery.FAILS, rediscovery.NOT_INSTALLED), False),
        ((rediscovery.NOT_INSTALLED, rediscovery.PASSES), False),
        ((rediscovery.FAILS, rediscovery.NOT_JUDGED), False),
        ((rediscovery.PASSES, rediscovery.PASSES), False),
    ],
)
def test_a_bug_is_found_only_if_both_releases_were_judged(said: tuple[str, str], good: bool) -> None:
    found = rediscovery.Found(rediscovery.bugs()[0], said)
    assert found.is_good is good
    assert str(found).startswith("NOT FOUND: ") is not good


# Exceptions of Python and of HTTP clients. A shim that maps one hides that the library lets it escape.
FOREIGN = re.compile(
    r'"(JSONDecodeError|DecodingError|TimeoutException|ReadTimeout|ConnectTimeout|TransportError|ConnectError|ReadError'
    r'|RemoteProtocolError|HTTPError|RequestException|ValueError|KeyError|OSError|ConnectionError)":'
)
# Exceptions that a library raises on purpose: Python's, with its own message, or its own of the same name.
RAISED_ITSELF = {"mirascope": {"ConnectionError"}, "ollama": {"ConnectionError"}}
# What is sent instead of what the library would send.
SMUGGLED = re.compile(r'(extra_body|kwargs|params|settings\["extra_body"\])"?\]?\["(messages|input|contents)"\] *=')


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.shim.suffix == ".py"], ids=lambda peer: peer.name)
def test_a_shim_keeps_the_standard(peer: Library) -> None:
    source = (peer.folder / "adapter.py").read_text("utf-8")
    says = ast.get_docstring(ast.parse(source)) or ""
    assert "max_retries" in source or "retries" in says, "retries are off, or the docstring says why they are not"
    mapped = set(FOREIGN.findall(source)) - RAISED_ITSELF.get(peer.name, set())
    assert not mapped, "an exception that is not the library's own is mapped"
    assert not SMUGGLED.search(source), "messages go past the library"
    assert re.search(r"\.native(, \w+\.turn)? = |chat\.(answer|Fold)\(", source), "no answer keeps the library's object"
    assert not re.search(r"\bexcept (Exception|BaseException|\w*httpx\w*\.)", source), "an exception is hidden"
    private = [
        each.attr
        for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.Attribute) and re.match("_[a-z]", each.attr)
        if not (isinstance(each.value, ast.Name) and each.value.id == "self")
    ]
    assert not private, "a name that is not public is used"


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.shim.suffix == ".mjs"], ids=lambda peer: peer.name)
def test_a_shim_of_node_keeps_the_standard(peer: Library) -> None:
    source = peer.shim.read_text("utf-8")
    says = source.partition("*/")[0]
    assert re.search(r"max_?[rR]etries: 0", source) or "retries" in says, "retries are off, or the head says why not"
    assert not re.search(r"\b(TypeError|SyntaxError|AbortError|FetchError|RangeError): *\"", source), "a foreign error"
    assert not re.search(r"\bcatch *\{|catch \(\w+\) *\{ *\}", source), "an exception is hidden"
    assert "native" in source, "no answer keeps the library's object"
    assert not re.search(r"[\w\])]\._[a-z]", source), "a name that is not public is used"


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.shim.suffix == ".toml"], ids=lambda peer: peer.name)
def test_a_gateways_file_can_be_read_and_names_apis(peer: Library) -> None:
    said = tomllib.loads(peer.shim.read_text("utf-8"))
    assert set(said["apis"]) == set(peer.apis)
    if isinstance(version := said.pop("version"), dict):
        assert peer.package in str(version)
