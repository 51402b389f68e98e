"""The commands around a run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from llm_conformance.adapter import libraries
from llm_conformance.cli import main, smoke
from llm_conformance.cli.explain import examples
from llm_conformance.judging.shown.failure_text import reproduce_command
from llm_conformance.locations import CASSETTES
from llm_conformance.replay.cell import Cell
from llm_conformance.rules import catalogue
from llm_conformance.scenarios import load
from llm_conformance.server import catalogue as server_rules
from llm_conformance.wire.interaction import MODES
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests import gated, miniature


def test_list_has_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in found["rules"]] == [*catalogue.catalogue()]
    assert {"id", "api", "provenance", "grounds", "title"} == set(found["scenarios"][0])


@pytest.mark.parametrize(
    ("arguments", "shown", "hidden"),
    [
        (["scenarios", "--provider=cohere:chat"], "cohere/unknown-event", "openai/"),
        (["scenarios", "--scenario=openai/refus*"], "openai/refusal", "openai/citations"),
        (["rules", "--rule=ANN-*"], "ANN-5", "MSG-1"),
        (["core-faults", "--provider=zai"], "zai/core-chat-json-html", "openai/"),
        (["providers"], "zai:chat", "MSG-1"),
        (["providers", "--provider=zai", "--provider=xai"], "xai:responses", "openai:chat"),
        (["--rule=ANN-1"], "ANN-1", "openai/refusal"),
        (["--scenario=openai/refusal"], "openai/refusal", "ANN-1"),
        (["capabilities"], "annotations", "MSG-1"),
    ],
)
def test_lists_are_filtered(capsys: pytest.CaptureFixture[str], arguments: list[str], shown: str, hidden: str) -> None:
    assert main.main(["list", *arguments]) == 0
    text = capsys.readouterr().out
    assert shown in text
    assert hidden not in text


@pytest.mark.parametrize("rule", [*catalogue.catalogue()])
def test_every_rule_is_explained_with_a_failure(capsys: pytest.CaptureFixture[str], rule: str) -> None:
    assert main.main(["explain", rule.lower()]) == 0
    text = capsys.readouterr().out
    assert catalogue.catalogue()[rule].rule.requirement.split()[0] in text
    assert "    Expected     " in text
    assert set(examples()[rule]) == {"fault", "failure"}


@pytest.mark.parametrize("rule", [*server_rules.catalogue()])
def test_every_rule_about_servers_is_explained_with_its_source(capsys: pytest.CaptureFixture[str], rule: str) -> None:
    assert main.main(["explain", rule.lower()]) == 0
    text = capsys.readouterr().out
    assert text.startswith(rule)
    assert server_rules.catalogue()[rule].requirement.split()[0] in text
    assert "Source: https://" in text


def test_rules_about_servers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["list", "server-rules", "--rule=WIRE-*"]) == 0
    listed = capsys.readouterr().out
    assert main.main(["explain", "wire"]) == 0
    explained = capsys.readouterr().out
    for id in server_rules.catalogue():
        assert (f"\n  {id} " in listed, f"\n{id}  (" in explained) == ((id.startswith("WIRE-"),) * 2), id
    assert main.main(["explain", "WIRE-99"]) == main.main(["list", "server-rules", "--rule=ANN-1"]) == 4
    assert capsys.readouterr().err.count("`llm-conformance list server-rules` lists them all") == 2


def test_a_scenario_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["explain", "openai/refusal"]) == 0
    shown = capsys.readouterr().out
    assert "openai:chat (json, stream), synthetic\nGrounds: recording, https://" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "ANN-6"], "ANN-6: no such rule; did you mean"),
        (["explain", "openai/refusl"], "openai/refusl: no such scenario; did you mean openai/refusal"),
        (["explain", "../../etc/passwd"], "no such scenario"),
        (["explain", "ANNN"], "ANNN: no such family of rules; did you mean ANN?"),
        (["explain", "opnai"], "opnai: no such provider; did you mean openai?"),
        (["explain", "openai:chatt"], "openai:chatt: no such provider; did you mean openai:chat?"),
        (["explain", "openai/core-chat-json-htm"], "-html? `llm-conformance list core-faults` lists them all"),
        (["list", "scenarios", "--provider=cohere", "--rule=ANN-1", "--scenario=openai/refusal"], "no scenarios match"),
        (["list", "--provider=mistrall"], "--provider=mistrall: no such provider; did you mean mistral?"),
        (["list", "scenarios", "--provider=opnai:chat"], "no such provider; did you mean openai:chat?"),
        (["list", "--scenario=opnai/*"], "--scenario=opnai/*: no such scenario; did you mean openai/*?"),
        (["list", "rules", "--rule=ANN-99"], "--rule=ANN-99: no such rule; did you mean ANN-"),
        (["list", "--wrong"], "llm-conformance list: unknown arguments: --wrong"),
        (["list", "--provdier=x"], "unknown arguments: --provdier=x; did you mean --provider?"),
        (["list", "scenario"], "did you mean scenarios?"),
        (["rnu", "--adapter=mypkg"], "did you mean run?"),
        (["report", "mrge"], "did you mean merge?"),
        (["import", "x.yaml", "--into=x", "--source=a", "--source=b"], "argument --source: is given twice"),
        (["import", "x.yaml", "--into=x", "--provider=opnai"], "no such provider; did you mean openai?"),
        (["import", "x.yaml", "--into=x", "--provider=xai"], "choose one of xai:chat, xai:responses"),
        (["run", "--adaptor=mypkg.py"], "run: no such option: --adaptor; did you mean --adapter?"),
        (["run", "mypkg_conformance.py"], "did you mean --adapter=mypkg_conformance.py?"),
        (["smoke", "--adapter=nosuchpackage"], "cannot find 'nosuchpackage'"),
        (["smoke", "mypkg_conformance.py"], "smoke mypkg_conformance.py: did you mean --adapter=mypkg_conformance.py?"),
        (["smoke"], "smoke: name the adapter (--adapter=SPEC)"),
        (["init", "my-pkg"], "'my-pkg' is not the name of a Python package"),
        (["init", "mypkg", "--directory=nowhere"], "nowhere: no such directory"),
        (["report", "show", "a.json", "-o", "b.json"], "reports are JSON already"),
        (["nothing"], "invalid choice: 'nothing'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_usage_error_is_one_message(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    try:
        code = main.main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 4
    assert message in capsys.readouterr().err


WITHOUT_MODEL = "{key: value for key, value in response.to_dict().items() if key != 'model'}"


@pytest.mark.parametrize(
    ("spoilt", "code", "message"),
    [
        (gated.GOOD, 0, "ok  cerebras:chat              parse"),
        (
            "{'message': None}",
            1,
            "NO  cerebras:chat              parse         `message` must be a string, and is None",
        ),
        ("{'message': ''}", 1, "`provider` is missing; `model` is missing; `finish_reason` is missing"),
        (WITHOUT_MODEL, 1, "NO  cerebras:chat              parse         `model` is missing\n"),
        (
            WITHOUT_MODEL + " | {'modell': 'x'}",
            1,
            "`model` is missing; `modell` is no field of a response; did you mean `model`?",
        ),
        (
            "{'tool_call' if key == 'tool_calls' else key: value for key, value in response.to_dict().items()}",
            0,
            '"; `tool_call` is no field of a response; did you mean `tool_calls`?',
        ),
        ("1 / 0", 1, "NO  cerebras:chat              parse         raised ZeroDivisionError: division by zero"),
    ],
)
def test_smoke(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spoilt: str,
    code: int,
    message: str,
) -> None:
    gated.write(tmp_path, spoilt, package="adapters")
    (tmp_path / "mypkg.py").rename(tmp_path / f"smoked{abs(hash(spoilt))}.py")
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", f"--adapter=smoked{abs(hash(spoilt))}.py"]) == code
    assert message in capsys.readouterr().out


@pytest.mark.parametrize("api", table().values(), ids=str)
def test_an_api_is_explained(capsys: pytest.CaptureFixture[str], api: Api) -> None:
    assert main.main(["explain", str(api)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{api}  (")
    assert shown.split(f"{api}  (")[1].split(")")[0].endswith(f"{api.provider}.toml")
    for word, reason in api.finish.items():
        assert re.search(rf"^  {re.escape(word)} +{reason or 'null'}$", shown, re.MULTILINE), word
    for count, fields in api.usage.items():
        (counted,) = re.findall(rf"^  {count} +(.+(?:\n {{18}} *.+)*)$", shown, re.MULTILINE)
        assert [field for field in fields if field.lstrip("-") not in counted] == [], count
    assert all(note.split()[0] in shown for note in api.notes)


def test_a_provider_is_explained_by_its_apis(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["explain", "openai"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("openai: 3 APIs\n")
    assert "\nopenai:responses\n    OpenAI responses\n" in shown
    assert "`llm-conformance explain openai:chat`" in shown


def test_a_family_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["explain", "ann"]) == 0
    shown = capsys.readouterr().out
    rules = [entry.rule for entry in catalogue.catalogue().values() if entry.rule.family == "ANN"]
    assert shown.startswith(f"ANN: {len(rules)} rules\n")
    for rule in rules:
        head = rf"^{rule.id}  \({rule.harm}; (\d+) scenarios?\)\n    "
        judged = re.search(head + re.escape(rule.requirement[:60]), shown, re.MULTILINE)
        assert judged, rule.id
        assert 0 < int(judged[1]) < len(load.find(CASSETTES)[0])


def test_smoke_suggests_a_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "an adapter").mkdir()
    text = "class conformance_adapter:\n    providers = {'opnai', 'cerebras:chat'}\n    parse = staticmethod(dict)\n"
    (tmp_path / "an adapter" / "misspelt.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", "--adapter=an adapter/misspelt.py"]) == 1
    assert "  opnai: no such provider; did you mean openai? `llm-conf" in capsys.readouterr().out


def test_commands_that_are_printed_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gated.write(tmp_path, gated.GOOD, package="adapters")
    (tmp_path / "mypkg.py").rename(tmp_path / "my pkg.py")
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", "--adapter=my pkg.py"]) == 0
    assert "it works; now: llm-conformance run '--adapter=my pkg.py'" in capsys.readouterr().out
    (tmp_path / "sub").mkdir()
    assert main.main(["init", "other", "--directory=sub"]) == 0
    assert "then run in sub: llm-conformance smoke --adapter=other_conformance.py" in capsys.readouterr().out


def test_init_says_that_a_package_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "beside.py").write_text("raise RuntimeError('it is not imported')")
    monkeypatch.chdir(tmp_path)
    for package, is_there in (("nosuchpkg", False), ("beside", True), ("yaml", True)):
        folder = tmp_path / f"for-{package}"
        folder.mkdir()
        assert main.main(["init", package, f"--directory={folder}"]) == 0
        assert "docs/adapters.md" in (folder / f"{package}_conformance.py").read_text("utf-8")
        assert (f"{package} cannot be imported here; install it" in capsys.readouterr().out) != is_there


def test_libraries_are_listed_in_columns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(libraries.Library, "installed", lambda self, _: "9.8.7" if self.name == "groq" else None)
    assert main.main(["list", "--libraries", "--provider=groq"]) == 0
    _, head, *rows = capsys.readouterr().out.splitlines()
    assert re.split(" {2,}", head.strip()) == ["library", "judged release", "installed", "APIs"]
    found = {row.split()[0]: row for row in rows}
    assert found["groq"][head.index("judged release") :].startswith("groq ")
    assert found["groq"][head.index("installed") :].startswith("9.8.7 ")
    assert found["groq"][head.index("APIs") :] == "groq:chat"
    assert found["litellm"][head.index("installed") :].startswith("no ")


def test_the_age_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["age", f"--cassettes={tmp_path}"]) == 0
    assert capsys.readouterr().out == f"{tmp_path.resolve()} has no scenarios\n"


def test_a_core_fault_cannot_be_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    miniature.write(tmp_path, scenario=miniature.SCENARIO.replace("expected:", "core_faults: true\nexpected:", 1))
    id = "deepseek/core-chat-json-html"
    assert main.main(["record", id, f"--cassettes={tmp_path}"]) == 4
    assert (
        f"{id}: this is a core fault, which the suite makes from the answer of mini/spider" in capsys.readouterr().err
    )
    assert main.main(["record", "mini/spidr", f"--cassettes={tmp_path}"]) == 4
    assert "has this id (provider/name); did you mean mini/spider?" in capsys.readouterr().err


def test_links_that_lead_in_a_circle_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini" / "one.yaml").symlink_to("two.yaml")
    (tmp_path / "mini" / "two.yaml").symlink_to("one.yaml")
    assert main.main(["age", f"--cassettes={tmp_path}"]) == 4
    assert "one.yaml:1: leads out of" in capsys.readouterr().err


def test_smoke_shows_the_traceback_of_the_adapter_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", "--adapter=dying.py"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("Traceback (most recent call last)") == 1
    assert 'dying.py", line 3, in decode' in shown
    assert "return body['nothing']" in shown
    assert "as in cerebras:chat parse: KeyError in dying.py:3 decode" in shown
    assert "llm_conformance/replay" not in shown


DYING = """\
import json
def decode(body):
    return body['nothing']
class Dying:
    providers = ("cerebras:chat", "venice:chat")
    def parse(self, http, call):
        return decode(json.loads(http.body))
conformance_adapter = Dying
"""


HARD_WIRED = """\
import httpx
class HardWired:
    providers = ("cerebras:chat",)
    def complete(self, call):
        headers = {"authorization": f"Bearer {call.api_key}"}
        url = "https://api.cerebras.ai/v1/chat/completions"
        body = httpx.post(url, json=dict(call.request), headers=headers, timeout=call.timeout_s).json()
        text = f"{body['choices'][0]['message']['content']} within {call.timeout_s:g} s"
        known = {"provider": call.provider, "model": call.model}
        return {**known, "message": text, "finish_reason": None, "usage": None}
conformance_adapter = HardWired
"""


def test_smoke_takes_transport_and_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hardwired.py").write_text(HARD_WIRED)
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", "--adapter=hardwired.py"]) == 1
    assert "is judged with --transport=vcr" in capsys.readouterr().out
    assert main.main(["smoke", "--adapter=hardwired.py", "--transport=vcr", "--timeout=7"]) == 0
    shown = capsys.readouterr().out
    assert "within 7 s" in shown
    assert "llm-conformance run --adapter=hardwired.py --transport=vcr --timeout=7" in shown


WITHOUT_PARAMS = """\
import httpx
class WithoutParams:
    providers = ("anthropic:messages",)
    def complete(self, call):
        request = {"model": call.model, "messages": call.messages}
        url = f"{call.base_url}{call.path}"
        httpx.post(url, json=request, headers={"x-api-key": call.api_key}).raise_for_status()
conformance_adapter = WithoutParams
"""


@pytest.mark.parametrize(
    ("adapter", "problem"),
    [
        (WITHOUT_PARAMS, r"the request has /(\w+) = null; the call asks for /\1 = .+; pass call\.params on$"),
        (
            WITHOUT_PARAMS.replace('"model": call.model', '"model": "another", **call.params'),
            r'the request has /model = "another"; the call asks for /model = "[\w.-]+"$',
        ),
        (
            WITHOUT_PARAMS.replace('"messages": call.messages', '"messages": [], **call.params'),
            r'the request has no text of user; the call asks for the text ".+" of user; pass call\.messages on$',
        ),
    ],
    ids=["params", "model", "messages"],
)
def test_smoke_says_what_the_request_asks_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], adapter: str, problem: str
) -> None:
    name = f"lacking{len(adapter)}.py"
    (tmp_path / name).write_text(adapter)
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", f"--adapter={name}"]) == 1
    assert re.search(problem, capsys.readouterr().out, re.MULTILINE)


def test_smoke_refuses_a_timeout_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["smoke", "--adapter=adapters", "--timeout=0"]) == 4
    assert "--timeout=0: must be more than 0 seconds" in capsys.readouterr().err


def test_a_failure_is_reproduced_by_a_command_that_can_be_typed() -> None:
    adapter = SimpleNamespace(spec="my dir/it's.py")
    scenario = SimpleNamespace(cassette_dir=CASSETTES, id="openai/refusal")
    cell = cast("Cell", SimpleNamespace(adapter=adapter, scenario=scenario, method="parse"))
    *_, spec, _, _ = shlex.split(reproduce_command(cell))
    assert spec == "--conformance-adapter=my dir/it's.py"


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", list(table().values()), ids=str)
def test_smoke_has_an_answer_of_each_api_that_is_no_probe(api: Api) -> None:
    found = [smoke.plainest(api, mode) for mode in MODES]
    assert any(found)
    assert all(each.grounds != "probe" for each in found if each)
