"""Loading the adapter that a SPEC names, and reading its declarations."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter import declarations, loader
from llm_conformance.adapter.declarations import BadAdapterError, describe
from tests import miniature

ADAPTER = """\
class Adapter:
    name = "found"
    version = 7
    providers = ("deepseek:chat",)
    def parse(self, http, call): ...

conformance_adapter = {form}
other = Adapter()
class space:
    inner = Adapter
"""


@pytest.mark.parametrize("form", ["Adapter", "Adapter()", "lambda: Adapter()"])
def test_the_attribute_may_be_a_class_an_instance_or_a_function(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"form{abs(hash(form))}.py"
    path.write_text(ADAPTER.format(form=form))
    found = loader.load(str(path), Path.cwd())
    assert (found.label, found.version, set(found.providers)) == ("found", "7", {"deepseek:chat"})
    assert found.methods == {"parse"}


def test_all_forms_of_a_spec_find_the_same_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "spec_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import conformance_adapter\n")
    (package / "inner.py").write_text(ADAPTER.format(form="Adapter"))
    monkeypatch.syspath_prepend(str(tmp_path))
    specs = (
        "spec_package",
        "spec_package.inner",
        "spec_package.inner:other",
        "spec_package.inner:space.inner",
        "spec_package/inner.py",
        "spec_package/inner.py:other",
        str(package / "__init__.py"),
    )
    kinds = {type(loader.load(spec, tmp_path).instance) for spec in specs}
    assert [kind.__module__ for kind in kinds] == ["spec_package.inner"]


def test_a_file_in_the_working_directory_needs_no_path(tmp_path: Path) -> None:
    (tmp_path / "lonely_adapter.py").write_text(ADAPTER.format(form="Adapter"))
    assert loader.load("lonely_adapter", tmp_path).label == "found"


def test_an_entry_point_takes_precedence_over_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json_registered.py").write_text(ADAPTER.format(form="Adapter"))
    metadata = tmp_path / "registering-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: registering\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[llm_conformance.adapters]\njson = json_registered:Adapter\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert loader.load("json", tmp_path).label == "found"


def test_two_adapters_of_one_name_have_different_labels(tmp_path: Path) -> None:
    path = tmp_path / "twins.py"
    path.write_text(ADAPTER.format(form="Adapter"))
    found = loader.load_all([f"{path}", f"{path}:other", f"{path}"], tmp_path)
    assert [one.label for one in found] == ["found", f"{path}:other"]


def test_a_file_with_the_name_of_an_imported_module_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # a later test would start a process that finds this `json`
    (tmp_path / "json.py").write_text(ADAPTER.format(form="Adapter"))
    with pytest.raises(BadAdapterError, match="another module named 'json' is imported already"):
        loader.load(str(tmp_path / "json.py"), tmp_path)


@pytest.mark.parametrize(
    ("methods", "capabilities"),
    [
        ("parse", set()),
        ("parse_stream", {"streaming", "incomplete_streams"}),
        ("complete", {"round_trip"}),
    ],
)
def test_methods_imply_the_capabilities_of_an_adapter_that_declares_none(methods: str, capabilities: set[str]) -> None:
    adapter = type("Adapter", (), {"providers": ["x"], methods: lambda *_: None})()
    always = set(declarations.CAPABILITIES) - {"streaming", "incomplete_streams", "round_trip", "raw"}
    assert describe("x", adapter).capabilities == always | capabilities


@pytest.mark.parametrize("providers", ["openai", 3, [1], None])
def test_providers_have_to_be_a_collection_of_names(providers: object) -> None:
    adapter = type("Adapter", (), {"providers": providers, "parse": lambda *_: None})()
    with pytest.raises(BadAdapterError, match="`providers` has to"):
        describe("x", adapter)


@pytest.mark.parametrize(
    ("name", "parameters", "problem"),
    [
        (
            "complete",
            "self",
            "cannot be called with call: too many positional arguments; write `def complete(self, call)`",
        ),
        ("stream", "self, call, more", "missing a required argument: 'more'; write `def stream(self, call)`"),
        (
            "parse",
            "self, call",
            "cannot be called with http and call: too many positional arguments; write `def parse(self, http, call)`",
        ),
        ("completee", "self, call", "parse, parse_stream, but it has completee; did you mean complete?"),
    ],
)
def test_a_method_that_cannot_be_called_is_refused(name: str, parameters: str, problem: str) -> None:
    written: dict[str, Any] = {}
    exec(f"def {name}({parameters}): pass", written)
    adapter = type("Own", (), {"providers": ("deepseek",), name: written[name]})
    with pytest.raises(BadAdapterError) as refused:
        describe("own", adapter())
    assert problem in str(refused.value)


def test_a_method_may_have_further_parameters_or_be_wrapped() -> None:
    def complete(self: object, client: object, call: object) -> None: ...

    def with_client(self: object, call: object) -> None: ...

    own = {"complete": functools.wraps(complete)(with_client), "parse": lambda self, *given, more=1: None}
    assert describe("own", type("Own", (), {"providers": ("deepseek",), **own})()).methods == {"complete", "parse"}


def test_several_adapters_in_one_run(pytester: pytest.Pytester) -> None:
    miniature_adapter = ADAPTER.format(form="Adapter")
    (pytester.path / "one.py").write_text(miniature_adapter)
    result, report = miniature.run(pytester, "--adapter=one.py", "--conformance-adapter=adapters")
    assert [adapter["name"] for adapter in report["adapters"]] == ["found", "reference"]
    by_status = {(found["adapter"], found["status"]) for found in report["results"]}
    assert ("reference", "pass") in by_status
    assert ("found", "fail") in by_status
    assert json.dumps(report).count('"spec"') == 2
    assert result.ret == 1


@pytest.mark.parametrize(
    ("errors", "problem"),
    [
        ({"MyError": "RateLimitEror"}, "maps 'MyError' to 'RateLimitEror', which is no class of the contract; did you"),
        ({"Foo": "BarError"}, "maps 'Foo' to 'BarError', which is no class of the contract; there are Auth"),
        ({"MyError 429": "Busy"}, "maps 'MyError 429' to 'Busy', which is no class of the contract; there are Auth"),
        ({"MyError": 429}, "maps 'MyError' to 429, which is no class of the contract; there are"),
        ({"openai.MyError": "LLMError"}, "the key 'openai.MyError'; a key is the name of a class without its module"),
        ({"MyError 200": "LLMError"}, "the key 'MyError 200'; a key is"),
        ({"MyError: 429": "LLMError"}, "the key 'MyError: 429'; a key is"),
        ({429: "RateLimitError"}, "the key 429; a key is"),
        (["MyError"], "has to map exception class names"),
    ],
)
def test_a_bad_mapping_of_errors_is_refused(errors: object, problem: str) -> None:
    adapter = type("Own", (), {"providers": ("deepseek",), "parse": print, "errors": errors})
    with pytest.raises(BadAdapterError) as refused:
        describe("own", adapter())
    assert problem in str(refused.value)


def test_errors_may_be_mapped_by_class_and_status() -> None:
    errors = {"MyError": "LLMError", "MyError 429": "RateLimitError", "_Own2": "TimeoutError"}
    adapter = type("Own", (), {"providers": ("deepseek",), "parse": print, "errors": errors})
    assert describe("own", adapter()).errors == errors
