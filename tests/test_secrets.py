"""All cassettes are scanned by detect-secrets as well as by the patterns of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import transient_settings

from llm_conformance import secrets
from llm_conformance.locations import CASSETTES

# Detectors of randomness and of words like "token" are left out: answers are full of both.
DETECTORS = (
    *("ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector"),
    *("DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector", "MailchimpDetector"),
    *("NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector"),
    *("SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"),
)


def found_in(*paths: Path) -> dict[str, list[str]]:
    collection = SecretsCollection()
    with transient_settings({"plugins_used": [{"name": name} for name in DETECTORS]}):
        for path in paths:
            collection.scan_file(str(path))
    return {file: sorted(secret.type for secret in inside) for file, inside in collection.data.items() if inside}


def test_no_cassette_has_a_secret() -> None:
    assert not found_in(*sorted(CASSETTES.rglob("*.yaml")))


@pytest.mark.parametrize("secret", ["ghp_" + "0aB1" * 9, "-----BEGIN " + "RSA PRIVATE KEY-----", "AKIA" + "0A1B" * 4])
def test_the_scanner_finds_a_secret(tmp_path: Path, secret: str) -> None:
    (tmp_path / "cassette.yaml").write_text(f"body: {secret}\n")
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
