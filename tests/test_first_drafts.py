"""The drafts of the suite: first recordings for every hosted provider."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance import schema
from llm_conformance.formats.requests import token_limit, turns
from llm_conformance.recording import first_drafts
from llm_conformance.recording.draft import Draft
from llm_conformance.recording.provider_request import requests_of_draft
from llm_conformance.scenarios import lint, load
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests import standin
from tests.shell import ROOT
from tests.standin import KEY, StandIn, has_counted_text, run

HOSTED = [api for api in table().values() if api.is_hosted]
RECORDABLE = [api for api in HOSTED if not api.drafts.impossible]
DRAFTS = first_drafts.all_drafts()
WORKFLOW = ROOT / ".github" / "workflows" / "record.yml"

SHORT_LIVED = {
    "CODEX_ACCESS_TOKEN": "the token of a person's login; the API cannot be recorded at all",
    "GITHUB_COPILOT_TOKEN": "is exchanged for a login, and is valid for half an hour",
    "GOOGLE_OAUTH_ACCESS_TOKEN": "is valid for an hour",
}
"""Keys that no secret of a workflow can keep (docs/recording.md)."""


def test_every_hosted_api_has_drafts_of_what_it_can_do() -> None:
    assert len({api.provider for api in HOSTED}) >= 31
    assert {str(api) for api in HOSTED} - {str(api) for api in RECORDABLE} == {
        "anthropic:complete",
        "bedrock:complete",
        "codex:responses",
    }
    for api in RECORDABLE:
        names = {draft.name.removeprefix(f"recorded-{api.name}-") for draft in first_drafts.drafts_of(api)}
        assert names >= {"plain", "cut-off"}, api
        assert ("tools" in names) == ("call" in api.ids), api
        assert names <= set(first_drafts.conversations()), api
        assert set(api.drafts.conversations) <= names, api


def test_most_apis_have_drafts_of_reasoning_and_many_of_citations() -> None:
    kinds = Counter(draft.name.removeprefix(f"recorded-{draft.api.name}-") for draft in DRAFTS)
    assert kinds["reasoning"] >= 45
    assert kinds["search"] + kinds["citations"] >= 25
    assert kinds["audio"] >= 2


def test_the_id_of_a_draft_is_no_other_scenario() -> None:
    """A scenario of another origin would count as the recording of the draft, which then would never be made."""
    ids = {draft.id for draft in DRAFTS}
    assert len(ids) == len(DRAFTS)
    others = [path for path in load.find(ROOT / "cassettes")[0] if load.id_of(path) in ids]
    assert [path for path in others if load.read(path).cassette.metadata["provenance"] != "recorded"] == []


@pytest.mark.parametrize("draft", DRAFTS, ids=lambda draft: draft.id)
def test_a_draft_makes_requests_of_its_api(draft: Draft) -> None:
    document = {**draft.document, "modes": list(draft.modes)}
    assert list(schema.file_problems("draft", Path("x"), yaml.safe_dump(document), document)) == []
    call = draft.document["call"]
    requests = list(requests_of_draft(draft, None))
    assert [request.mode for request in requests] == list(draft.modes)
    for request in requests:
        place = draft.api.place(request.uri)
        streams = request.mode == "stream"
        assert place is not None
        assert place.template == (draft.api.stream_path if streams else draft.api.path)
        assert (place.model or request.body.get("model")) == call["model"]
        assert draft.api.path != draft.api.stream_path or draft.api.asks_for_stream(request.body) == streams
        assert draft.api.read_request(request.body) == request.body
        said = [turn.content for turn in turns(request.body, draft.api.wire) if turn.kind == "text"]
        assert all(text in said for text in _texts(call["messages"]))
        assert "weather" in json.dumps(request.body) or not call.get("tools")
        limit: Any = request.body
        for field in (draft.api.drafts.token_limit or token_limit(draft.api.wire)).split("/"):
            limit = limit[field]
        assert limit == draft.token_limit
        assert set(draft.api.needed_params) <= set(request.body)


def _texts(messages: list[dict[str, Any]]) -> list[str]:
    texts = [each["content"] for each in messages if each["role"] == "user" and isinstance(each["content"], str)]
    blocks = [block for each in messages if isinstance(each["content"], list) for block in each["content"]]
    return texts + [block["text"] for block in blocks if "text" in block]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", [("groq", "chat"), ("bedrock", "converse"), ("gemini", "generate")], ids=":".join)
def test_drafts_are_recorded_once(name: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    api = table()[name]
    wanted = list(first_drafts.drafts_of(api))
    answers = standin.written(api, has_counted_text).interactions
    with standin.standing_in(api, answers) as provider:
        command = ["record", "--drafts", f"{api.provider}/recorded-{api.name}-*", f"--base-url={provider.url}"]
        command += [f"--cassettes={tmp_path}", "--yes"]
        assert run(*command) == 0
        assert len(provider.requests) == sum(len(draft.modes) for draft in wanted)
        assert run(*command) == 0
        assert f"{len(wanted)} drafts of {len(wanted)} proposed already" in capsys.readouterr().out
        assert run("accept", "--yes", f"--cassettes={tmp_path}") == 0
        assert run(*command) == 0
        assert f"{len(wanted)} drafts of {len(wanted)} recorded already" in capsys.readouterr().out
        assert len(provider.requests) == sum(len(draft.modes) for draft in wanted)
    loaded = lint.load_all([tmp_path])
    assert sorted(load.id_of(each.path) for each in loaded) == sorted(draft.id for draft in wanted)
    assert {load.read(each.path).cassette.metadata["provenance"] for each in loaded} == {"recorded"}


@pytest.fixture
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for api in HOSTED:
        for variable in (*api.key_variables, *api.url_variables.values()):
            monkeypatch.setenv(variable, "")  # as a workflow sets a secret that does not exist


@pytest.mark.usefixtures("without_keys")
def test_providers_without_a_key_are_listed_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"--cassettes={tmp_path}"
    assert run("record", "--drafts", "--yes", where) == 0
    output = capsys.readouterr().out
    assert f"MISTRAL_API_KEY is not set: 5 scenarios of {len(DRAFTS)} not recorded" in output
    assert "MOONSHOT_API_KEY or KIMI_API_KEY is not set" in output
    assert "CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID is not set" in output
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", KEY)
    assert run("record", "--drafts", "cloudflare/*", "--yes", where) == 1
    assert "\nCLOUDFLARE_ACCOUNT_ID is not set: 8 scenarios of 8 not recorded" in f"\n{capsys.readouterr().out}"
    assert not list(tmp_path.iterdir())


def test_a_dry_run_prints_the_requests_of_all_drafts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("record", "--drafts", "--dry-run", f"--cassettes={tmp_path}") == 0
    assert capsys.readouterr().out.count("\nPOST ") == sum(len(draft.modes) for draft in DRAFTS)


def test_the_highest_number_of_tokens_is_told_before_anything_is_sent(
    tmp_path: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _prompt: "n")
    where = (f"--base-url={provider.url}", f"--cassettes={tmp_path}")
    assert run("record", "--drafts", "openai/recorded-chat-plain", "openai/recorded-chat-cut-off", *where) == 1
    assert "At most 4,032 completion tokens for drafts. Prices: https://" in capsys.readouterr().out
    assert not provider.requests


@pytest.mark.usefixtures("impatient")
def test_an_api_that_needs_more_than_a_key_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = standin.draft(tmp_path, table()["codex", "responses"])
    assert run("record", path, "--yes", f"--cassettes={tmp_path}") == 1
    assert "not recorded: the account of each user is in a header of its own" in capsys.readouterr().out


def test_a_file_of_a_draft_is_found_in_the_directory(tmp_path: Path, provider: StandIn) -> None:
    standin.draft(tmp_path, provider.api, "mine")
    where = (f"--base-url={provider.url}", f"--cassettes={tmp_path}")
    assert run("record", "--drafts", "openai/mine", "--yes", *where) == 0
    assert (tmp_path / "openai" / "mine.proposed").is_dir()


def test_an_unknown_draft_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("record", "--drafts", "groq/recorded-chat-plane", "--yes", f"--cassettes={tmp_path}") == 4
    assert "no draft has this id (provider/name); did you mean groq/recorded-chat-plain?" in capsys.readouterr().err


def test_the_workflow_sets_the_keys_of_all_providers() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    job = workflow["jobs"]["hosted"]
    needed = {variable for api in HOSTED for variable in (api.key_variables[0], *api.url_variables.values())}
    kept = {api.key_variables[0] for api in HOSTED} & set(SHORT_LIVED)
    assert kept == set(SHORT_LIVED)
    only_of_those = {
        variable for api in HOSTED if api.key_variables[0] in SHORT_LIVED for variable in api.url_variables.values()
    }
    (record,) = (step for step in job["steps"] if "llm-conformance record" in step.get("run", ""))
    assert [step for step in (*job["steps"], job) if "secrets." in str(step.get("env"))] == [record]
    keys = {name: value for name, value in record["env"].items() if name != "DRAFTS"}
    assert set(keys) == needed - set(SHORT_LIVED) - only_of_those
    for variable, value in keys.items():
        assert re.fullmatch(rf"\$\{{\{{ secrets\.{variable} \}}\}}", value), variable
    assert "--all $DRAFTS" in record["run"]
    assert record["env"]["DRAFTS"] == "${{ github.event_name == 'workflow_dispatch' && '--drafts' || '' }}"


def test_docs_name_what_cannot_be_kept_in_a_workflow() -> None:
    page = (ROOT / "docs" / "recording.md").read_text("utf-8")
    assert all(variable in page for variable in SHORT_LIVED)


def test_a_row_cannot_state_a_conversation_that_does_not_exist() -> None:
    stated = {name for api in table().values() for name in api.drafts.conversations}
    assert stated <= set(first_drafts.conversations())


def test_apis_without_a_key_have_no_drafts() -> None:
    assert {str(draft.api) for draft in DRAFTS} == {str(api) for api in RECORDABLE}
    assert not any(_is_local(api) for api in RECORDABLE)


def _is_local(api: Api) -> bool:
    return api.base_urls[0].startswith("http://")
