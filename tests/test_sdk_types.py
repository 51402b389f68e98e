"""Comparing documents with the types of an SDK, here with a fake one: no test installs anything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import botocore.session
import pytest

from llm_conformance.yaml_files import BadFileError
from peers.environments import Environment
from tests import fake_sdk, miniature
from tools import documents
from tools.sdk_types import __main__ as command
from tools.sdk_types import comparison, settings, shapes, type_hints
from tools.sdk_types.probe import compared

RIGHT: dict[str, Any] = {"id": "a", "finish": "stop", "blocks": [{"type": "text", "text": "Hi."}]}


def said(value: Any, kind: Any) -> list[tuple[str, str]]:
    return [(each.pointer, each.kind) for each in type_hints.differences(value, kind)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"usage": None, "tier": "on_demand", "model": "m-2", "extra": {"a": 1}}, []),
        ({"colour": "red"}, [("/colour", "unknown field")]),
        ({"a/b": 1}, [("/a~1b", "unknown field")]),
        ({"id": None}, [("/id", "null")]),
        ({"id": 7}, [("/id", "wrong type")]),
        ({"finish": "glitch"}, [("/finish", "unknown value")]),
        ({"usage": {}}, [("/usage/total", "missing field")]),
        ({"usage": {"total": True}}, [("/usage/total", "wrong type")]),
        ({"usage": {"total": 1, "cost": 2}}, []),
        ({"usage": [1]}, [("/usage", "wrong type")]),
        ({"tier": "priority"}, [("/tier", "unknown value")]),
        ({"file": "aGk="}, []),
        ({"file": 1}, [("/file", "wrong type")]),
        ({"extra": {"a": "1"}}, [("/extra/a", "wrong type")]),
        ({"blocks": {}}, [("/blocks", "wrong type")]),
        ({"blocks": [{"type": "quantum"}]}, [("/blocks/0", "unknown variant")]),
        ({"blocks": [{"raw": 1}]}, [("/blocks/0", "unknown variant")]),
        (
            {"blocks": [{"type": "thinking", "text": "a"}]},
            [("/blocks/0/text", "unknown field"), ("/blocks/0/thinking", "missing field")],
        ),
    ],
)
def test_an_answer_differs_from_its_type(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert said(RIGHT | changes, fake_sdk.Answer) == expected


def test_a_missing_field_is_named() -> None:
    (found,) = type_hints.differences({"id": "a", "finish": "stop"}, fake_sdk.Answer)
    assert (found.pointer, found.kind, found.type) == ("/blocks", "missing field", "tests: Answer")


def test_a_model_has_the_names_of_its_aliases() -> None:
    assert said({"finishReason": "stop", "none": None}, fake_sdk.Aliased) == []
    expected = [("/finish_reason", "unknown field"), ("/finishReason", "missing field")]
    assert said({"finish_reason": "stop"}, fake_sdk.Aliased) == expected


def test_a_union_without_tags_takes_the_nearest_member() -> None:
    kind = str | list[fake_sdk.Usage]
    assert said("a", kind) == []
    assert said([{"total": "1"}], kind) == [("/0/total", "wrong type")]


def test_a_type_that_is_not_understood_is_no_agreement() -> None:
    with pytest.raises(TypeError, match="not understood"):
        said({}, fake_sdk.NotUnderstood)


def test_a_type_with_another_tag_is_never_the_nearest() -> None:
    types = ["tests.fake_sdk:Thinking", "tests.fake_sdk:Text"]
    kind, found = compared(types, {"type": "text", "words": 1, "more": 2})
    assert (kind, len(found)) == ("tests.fake_sdk:Text", 3)


def test_an_error_in_a_field_of_its_own() -> None:
    types = ["tests.fake_sdk:Answer", "tests.fake_sdk:Usage at /error"]
    assert compared(types, {"error": {"total": 1}}) == (types[1], [])
    _, found = compared(types[1:], {"error": {"total": 1, "code": 2}, "id": 3})
    assert [each.pointer for each in found] == ["/id", "/error/code"]


def test_a_type_that_does_not_exist_is_named() -> None:
    with pytest.raises(LookupError, match=r"no type tests\.fake_sdk:Gone"):
        compared(["tests.fake_sdk:Gone"], {})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"stopReason": "tired"}, [("/stopReason", "unknown value")]),
        ({"usage": {"inputTokens": 1, "outputTokens": 2}}, [("/usage/totalTokens", "missing field")]),
        ({"padding": "abc"}, [("/padding", "unknown field")]),
        (
            {"output": {"message": {"role": "assistant", "content": [{"sketch": 1}]}}},
            [("/output/message/content/0", "unknown variant")],
        ),
    ],
)
def test_an_answer_differs_from_a_shape_of_botocore(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    shape = botocore.session.Session().get_service_model("bedrock-runtime").shape_for("ConverseResponse")
    answer = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
        "metrics": {"latencyMs": 4},
    }
    assert [(each.pointer, each.kind) for each in shapes.differences(answer | changes, shape)] == expected


SDKS = """\
[sdk.fake]
requirements = ["fake-sdk==1.0"]

[[sdk.fake.holds]]
apis = ["deepseek:chat"]
json = ["tests.fake_sdk:Chat"]
event = ["tests.fake_sdk:Chat"]
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Compare the miniature with the fake SDK, in this environment; return the file of explanations."""
    miniature.write(tmp_path / "cassettes", scenario=miniature.SCENARIO.replace(", stream: 1, same_content: true", ""))
    (tmp_path / "sdks.toml").write_text(SDKS)
    (tmp_path / "explained.toml").write_text("")
    monkeypatch.setattr(command, "CASSETTES", tmp_path / "cassettes")
    monkeypatch.setattr(documents, "of_drafts", lambda: iter(()))
    monkeypatch.setattr(command, "SDKS", tmp_path / "sdks.toml")
    monkeypatch.setattr(command, "EXPLAINED", tmp_path / "explained.toml")
    here = Environment(Path(sys.prefix), tmp_path / "log")
    monkeypatch.setattr(command, "environment", lambda *_: here)
    monkeypatch.setattr(documents, "of_drafts", lambda: iter(()))
    return tmp_path / "explained.toml"


def explanation(at: str, kind: str) -> str:
    return f"""
[[explained]]
apis = ["deepseek:*"]
at = {at}
kind = "{kind}"
reason = "it is so"
source = "fake-sdk 1.0"
"""


def test_differences_are_listed_and_counted(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--work", str(fake.parent)]) == 1
    printed = capsys.readouterr().out
    assert "deepseek:chat: unknown field `usage` [tests: Chat]\n    mini/spider json: /usage: {'prompt" in printed
    assert "deepseek:chat: missing field `service_tier` [tests: Chat]\n    mini/spider json: /service_tier\n" in printed
    assert printed.rstrip().endswith("2        1         0         0           2")


@pytest.mark.parametrize("option", ["--drafts", "--all"])
def test_the_requests_of_drafts_are_compared_too(
    option: str, fake: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = documents.Document("deepseek:chat", "deepseek/a-draft", "request of json", "request", "", 200, {"wrong": 1})
    monkeypatch.setattr(documents, "of_drafts", lambda: iter([draft]))
    (fake.parent / "sdks.toml").write_text(f'{SDKS}request = ["tests.fake_sdk:Chat"]\n')
    assert command.main(["--work", str(fake.parent), option]) == 1
    printed = capsys.readouterr().out
    assert "unknown field `wrong` [tests: Chat]\n    deepseek/a-draft request of json: /wrong: 1" in printed
    assert ("mini/spider json" in printed) == (option == "--all")


def test_explained_differences_are_only_counted(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake.write_text(
        explanation('["/usage"]', "unknown field") + explanation('["/service_*"]', "missing field"), encoding="utf-8"
    )
    assert command.main(["--work", str(fake.parent)]) == 0
    printed = capsys.readouterr().out
    assert "mini/spider" not in printed
    assert printed.rstrip().endswith("2        1         2         0           0")


def test_an_explanation_that_matches_nothing_is_reported(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = explanation('["/usage"]', "unknown field") + explanation('["/service_*", "/gone"]', "missing field")
    fake.write_text(known, encoding="utf-8")
    assert command.main(["--work", str(fake.parent)]) == 1
    assert "explained.toml: matches nothing: /gone in line 9 (it is so)" in capsys.readouterr().out


def test_an_sdk_without_the_type_is_no_agreement(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake.parent / "sdks.toml").write_text(SDKS.replace("fake_sdk:Chat", "fake_sdk:Gone"))
    assert command.main(["--work", str(fake.parent)]) == 1
    assert "fake: LookupError: there is no type tests.fake_sdk:Gone" in capsys.readouterr().out


def test_a_mistake_in_a_file_is_named(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake.write_text(explanation('["/usage"]', "unknown field").replace("reason", "raison"), encoding="utf-8")
    assert command.main(["--work", str(fake.parent)]) == 1
    assert "unknown or missing: raison, reason; the columns are" in capsys.readouterr().err


def test_drawn_answers_are_compared(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--provider", "deepseek:chat", "--generated", "3", "--work", str(fake.parent)]) == 1
    out = capsys.readouterr().out
    assert "deepseek/generated-chat-answers json: /service_tier (3 times)" in out
    assert "spider" not in out


def test_an_environment_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[tuple[str, ...]] = []

    def install(self: Environment, *requirements: str, with_suite: bool) -> None:
        assert not with_suite
        self.folder.mkdir(exist_ok=True)
        installed.append(requirements)

    monkeypatch.setattr(Environment, "install", install)
    sdk = settings.Sdk("fake", ("fake-sdk[all]==1.0",), ())
    first = comparison.environment(sdk, tmp_path, latest=False)
    assert comparison.environment(sdk, tmp_path, latest=False) == first
    assert comparison.environment(sdk, tmp_path, latest=True) != first
    assert installed == [("--upgrade", "fake-sdk[all]==1.0"), ("--upgrade", "fake-sdk[all]")]


def test_every_requirement_has_an_exact_version_and_every_api_exists() -> None:
    from llm_conformance.wire.providers.table import table

    known = {str(api) for api in table().values()}
    for sdk in settings.sdks(settings.SDKS).values():
        assert all("==" in requirement for requirement in sdk.requirements)
        assert {api for holding in sdk.holds for api in holding.apis} <= known


def test_every_known_difference_is_explained_once() -> None:
    explanations = settings.explanations(settings.EXPLAINED)
    assert all(each.reason and each.source for each in explanations)
    keys = [(*pair, each.kind, each.scenario, each.found) for each in explanations for pair in each.pairs()]
    assert sorted(keys) == sorted(set(keys))


def test_requests_and_errors_have_types_of_their_own() -> None:
    holding = settings.Holding(apis=("a:b",), json=("j",), event=("e",), error=("x",))
    assert [holding.types("request"), holding.types("json")] == [(), ("j", "x")]
    assert [holding.types("event"), holding.types("error")] == [("e", "x"), ("x",)]


def test_an_explanation_without_a_reason_or_with_a_text_for_a_list_is_refused(
    fake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.write_text(
        '[[explained]]\napis = "ollama:chat"\nat = ["/a"]\nreason = ""\nsource = "https://example.com"\n',
        encoding="utf-8",
    )
    assert command.main([]) == 1
    printed = capsys.readouterr().err
    assert 'explained.toml:2: explained.0.apis: must be a list, and is "ollama:chat"' in printed
    assert "explained.toml:4: explained.0.reason: must not be empty" in printed


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("fake-sdk==1.0", "fake-sdk>=1.0", "2: sdk.fake.requirements.0: must match the pattern"),
        ("json =", "jsn =", "5: sdk.fake.holds.0.jsn: no such key; did you mean json?"),
        ("json =", "jsn =", "3: sdk.fake.holds.0: `json` is missing"),
        ('"fake:Event"', '"Event"', "6: sdk.fake.holds.0.event.0: must match the pattern"),
        ("groq:chat", "grok:chat", "4: grok:chat: no such API; did you mean groq:chat? `llm-conformance list prov"),
    ],
)
def test_the_file_of_sdks_is_checked(tmp_path: Path, right: str, wrong: str, problem: str) -> None:
    text = (
        '[sdk.fake]\nrequirements = ["fake-sdk==1.0"]\n[[sdk.fake.holds]]\napis = ["groq:chat"]\n'
        'json = ["fake:Answer at /a"]\nevent = ["fake:Event"]\n'
    )
    path = tmp_path / "sdks.toml"
    path.write_text(text)
    assert list(settings.sdks(path)) == ["fake"]
    path.write_text(text.replace(right, wrong))
    with pytest.raises(BadFileError) as refused:
        settings.sdks(path)
    assert any(str(each).startswith(f"{path}:{problem}") for each in refused.value.problems), refused.value
