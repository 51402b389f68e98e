"""All cassettes are scanned by detect-secrets as well as by the patterns of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from detect_secrets.core.plugins.initialize import from_plugin_classname
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.settings import transient_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_conformance import secrets
from llm_conformance.locations import CASSETTES
from llm_conformance.recording.hidden import texts_in

# Detectors of randomness and of words like "token" are left out: answers are full of both.
DETECTORS = (
    *("ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector"),
    *("DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector", "MailchimpDetector"),
    *("NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector"),
    *("SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"),
)


def found_in(*paths: Path) -> dict[str, list[str]]:
    """Map each file that has a secret to the kinds of its secrets.

    The detectors search each file as one text, and once more all texts in it, without their YAML escapes and line
    breaks. This takes a sixth of the time of `SecretsCollection.scan_file`.
    """
    found = {}
    with transient_settings({"plugins_used": [{"name": name} for name in DETECTORS]}):
        detectors: list[BasePlugin] = [from_plugin_classname(name) for name in DETECTORS]
        for path in paths:
            text = path.read_text("utf-8")
            parsed = "\n".join(each for _, each in texts_in(yaml.load(text, _LOADER)))
            kinds = {
                each.secret_type for each in detectors for said in (text, parsed) if any(each.analyze_string(said))
            }
            if kinds:
                found[str(path)] = sorted(kinds)
    return found


_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # all values are texts


def test_no_cassette_has_a_secret() -> None:
    assert not found_in(*sorted(CASSETTES.rglob("*.yaml")))


@pytest.mark.parametrize("secret", ["ghp_" + "0aB1" * 9, "-----BEGIN " + "RSA PRIVATE KEY-----", "AKIA" + "0A1B" * 4])
def test_the_scanner_finds_a_secret(tmp_path: Path, secret: str) -> None:
    wrapped = yaml.safe_dump({"body": f"{'x ' * 38}{secret}"}, width=80)
    cut, escaped = f"{secret[:12]}\\\n  {secret[12:]}", f"{secret[:9]}\\u{ord(secret[9]):04x}{secret[10:]}"
    for cassette in (f"body: {secret}\n", f'body: "{cut}"\n', f'body: "{escaped}"\n', wrapped):
        (tmp_path / "cassette.yaml").write_text(cassette)
        assert found_in(tmp_path / "cassette.yaml")


def test_the_patterns_find_keys_that_the_scanner_does_not_know(tmp_path: Path) -> None:
    key = "gsk_" + "a1B2" * 8
    (tmp_path / "cassette.yaml").write_text(f"body: {key}\n")
    assert not found_in(tmp_path / "cassette.yaml")
    assert list(secrets.scan(f"body: {key}\n")) == [(1, "an API key")]


def test_a_key_of_the_environment_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_API_KEY", "quiet-river-27")
    monkeypatch.setenv("HF_TOKEN", "quiet-river-27-evening")
    assert secrets.hide("got quiet-river-27-evening, then quiet-river-27") == (
        "got [a key of the environment], then [a key of the environment]"
    )


@pytest.mark.parametrize(
    ("name", "value"), [("OPENAI_API_KEY", "dummy"), ("MAX_TOKENS", "100000000"), ("HOME", "a/1/b/2")]
)
def test_a_variable_without_a_key_hides_nothing(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert secrets.hide(f"got {value}") == f"got {value}"


@pytest.mark.parametrize(
    ("key", "part", "is_secret"),
    [
        ("sk-proj-AbC1dEfG2hIjK3lMnOp", "AbC1dEfG", True),
        ("sk-proj-AbC1dEfG2hIjK3lMnOp", "sk-proj-AbC1dEf", False),
        ("sk-ant-api03-AbC1dEfG2hIjK3lMnOp", "sk-ant-api03-", False),
        ("eyJhbGciOiJIUzI1NiJ9.AbC1dEfG2h", "eyJhbGciOiJIUzI1NiJ9", False),
        ("sk-AbC1T3BlbkFJd2Ef", "T3BlbkFJ", False),
        ("1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "bbfd-4b2d", True),
        ("my-project-2026-11-23-1", "-2026-11-23", False),
        ("northamerica-northeast1", "northeast1", False),
        ("quiet-Evening-27", "Evening-27", False),
        ("AbC1dEfG2h", "C1dEfG2", False),
    ],
)
def test_parts_of_a_key_are_secret_unless_others_have_them(key: str, part: str, is_secret: bool) -> None:
    assert bool(list(secrets.spans_of(secrets.parts_of(key), f"a {part} b"))) is is_secret


def test_parts_that_overlap_are_one_place() -> None:
    text = "x AbC1dEfG2h y AbC1dEfG"
    assert [text[start:end] for start, end in secrets.spans_of(secrets.parts_of("AbC1dEfG2hIj"), text)] == [
        "AbC1dEfG2h",
        "AbC1dEfG",
    ]


def test_a_part_of_a_key_of_the_environment_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_API_KEY", "sk-AbC1dEfG2hIj")
    assert secrets.hide("got sk-AbC1dEfG2... and AbC1") == "got sk-[a part of a key]... and AbC1"


@given(st.text("aB1", max_size=40), st.sets(st.text("aB1", min_size=8, max_size=8), max_size=3))
@settings(max_examples=200, deadline=None)
def test_all_parts_are_found_wherever_they_are(text: str, parts: set[str]) -> None:
    inside = [any(text[at : at + 8] in parts for at in range(max(0, n - 7), n + 1)) for n in range(len(text))]
    found = {n for start, end in secrets.spans_of(parts, text) for n in range(start, end)}
    assert found == {n for n, is_inside in enumerate(inside) if is_inside}
