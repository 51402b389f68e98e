"""No secret is written: a known key is put into every place and form that an interaction can have it in."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from llm_conformance import secrets
from llm_conformance.cli import main
from llm_conformance.recording.scrubbing import LeakError, scrub, without_account
from llm_conformance.wire import answers
from llm_conformance.wire.framings.aws_event_stream import aws_chunk, aws_chunk_payload, aws_message, aws_parts
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.table import table
from tests import standin

KEY = "canary/key+that=nobody~may%see"
"""JSON, URLs and base64 encode its characters differently, and it does not look like a key."""
API = table()["openai", "chat"]


def answer(text: str, **more: object) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "chatcmpl-1", "created": 1, "model": "m", "choices": [choice], **more}).encode()


def stream(*pieces: str) -> bytes:
    deltas = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    return b"".join(b"data: " + json.dumps({"id": "chatcmpl-1", **each}).encode() + b"\n\n" for each in deltas)


PLAIN = Interaction(
    uri="https://api.openai.com/v1/chat/completions",
    request={"model": "m", "messages": [{"role": "user", "content": "Hello"}]},
    status=200,
    headers={"content-type": "application/json"},
    body=answer("Hello"),
)
WRITTEN = {
    "as it is": KEY,
    "in JSON": json.dumps(KEY)[1:-1],
    "in a URL": quote(KEY, safe=""),
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64, one byte behind": base64.b64encode(b"x" + KEY.encode() + b"y").decode(),
    "in base64, two bytes behind": base64.b64encode(b"xy" + KEY.encode()).decode(),
}


def everything(interaction: Interaction) -> str:
    """Return all text of an interaction that would be written."""
    sent = json.dumps([interaction.uri, interaction.request, dict(interaction.headers)])
    return sent + interaction.body.decode()


@pytest.mark.parametrize("form", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("place", ["uri", "request", "header", "body", "field of the body"])
def test_a_known_secret_is_masked_in_every_place_and_form(place: str, form: str) -> None:
    found = {
        "uri": replace(PLAIN, uri=f"{PLAIN.uri}?trace={form}"),
        "request": replace(PLAIN, request={**PLAIN.request, "user": f"me {form}"}),
        "header": replace(PLAIN, headers={**PLAIN.headers, "x-request-id": form, "set-cookie": f"session={form}"}),
        "body": replace(PLAIN, body=answer(f"Your key is {form}, I think")),
        "field of the body": replace(PLAIN, body=answer("Hello", system_fingerprint=form)),
    }[place]
    scrubbed = scrub(found, API, [KEY])
    kept = everything(scrubbed.interaction)
    assert not [written for written in WRITTEN.values() if written.rstrip("=")[4:-4] in kept]
    assert place == "uri" or "a key or an account of the request" in scrubbed.masked  # the query is dropped
    assert len(scrubbed.interaction.body) == len(found.body)
    json.loads(scrubbed.interaction.body)


SHAPES = {
    "an API key": "sk-proj-" + "a1B2c3D4" * 4,
    "a Google API key": "AIza" + "Sy0123456789abcdefghijklmnopqrstu",
    "an organisation or project id": "org-" + "0123456789abcdefgh",
    "an e-mail address": "somebody@company.de",
    "a bearer token": "Bearer 0123456789abcdef.ghi",
}


@pytest.mark.parametrize("kind", SHAPES)
def test_what_looks_like_a_secret_is_masked_and_offsets_stay_right(kind: str) -> None:
    body = answer(f"Write to {SHAPES[kind]} and see")
    scrubbed = scrub(replace(PLAIN, body=body), API)
    assert scrubbed.masked == (kind,)
    assert SHAPES[kind] not in scrubbed.interaction.body.decode()
    assert not list(secrets.scan(scrubbed.interaction.body.decode()))
    (before, after) = (answers.derive(replace(PLAIN, body=it), API).text for it in (body, scrubbed.interaction.body))
    assert len(before) == len(after)
    assert before.index(" and see") == after.index(" and see")


def test_only_allowed_headers_are_kept() -> None:
    headers = {"content-type": "a/b", "set-cookie": "a=b", "openai-organization": "me", "retry-after": "3", "via": "1"}
    scrubbed = scrub(replace(PLAIN, headers=headers), API)
    assert dict(scrubbed.interaction.headers) == {"content-type": "a/b", "retry-after": "3"}


def test_a_secret_in_pieces_is_refused() -> None:
    body = stream("My key is ", KEY[:7], KEY[7:19], KEY[19:], ".")
    with pytest.raises(LeakError, match="in pieces"):
        scrub(replace(PLAIN, headers={"content-type": "text/event-stream"}, body=body), API, [KEY])


def test_a_secret_in_pieces_is_found_in_an_incomplete_stream() -> None:
    body = stream("My key is ", KEY[:7], KEY[7:]) + b'data: {"id": "chatc\n\n'
    with pytest.raises(LeakError, match="in pieces"):
        scrub(replace(PLAIN, headers={"content-type": "text/event-stream"}, body=body), API, [KEY])


@pytest.mark.parametrize(
    "write", ["".join(f"\\u{ord(each):04x}" for each in KEY), "".join(f"%{ord(c):02x}" for c in KEY)]
)
def test_a_secret_that_cannot_be_masked_is_refused(write: str) -> None:
    with pytest.raises(LeakError, match="cannot be masked"):
        scrub(replace(PLAIN, body=answer("XX").replace(b"XX", write.encode())), API, [KEY])


def test_only_the_query_parameters_of_the_api_are_kept() -> None:
    api = table()["gemini", "generate"]
    base = "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent"
    found = scrub(replace(PLAIN, uri=f"{base}?alt=sse&key=AQ.Ab8RN6Kx0123"), api)
    assert found.interaction.uri == f"{base}?alt=sse"


def test_a_secret_that_begins_with_another_is_masked_completely() -> None:
    short, long = "sesame-open", "sesame-open-wide-9"
    found = scrub(replace(PLAIN, body=answer(f"It is {long}.")), API, [short, long])
    assert b"wide-9" not in found.interaction.body


def test_a_short_value_is_not_masked() -> None:
    assert scrub(PLAIN, API, ["Hello"[:3]]).interaction == PLAIN


def test_an_account_in_a_path_becomes_zeros() -> None:
    api = table()["cloudflare", "run"]
    uri = "https://api.cloudflare.com/client/v4/accounts/5f2c0123456789abcdef0123456789ab/ai/run/@cf/x"
    assert without_account(uri, api) == uri.replace("5f2c0123456789abcdef0123456789ab", "0" * 32)
    assert without_account("https://example.com/", api) == "https://example.com/"


def test_an_account_in_a_host_becomes_zeros() -> None:
    api = table()["azure", "chat"]
    uri = "https://mine.openai.azure.com/openai/deployments/my-4o/chat/completions"
    assert without_account(uri, api) == uri.replace("//mine.", "//0000.")


def test_no_file_has_the_canary_after_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = standin.KEY
    monkeypatch.setenv("OPENAI_API_KEY", key)
    headers = {"content-type": "application/json", "x-request-id": key, "set-cookie": f"a={key}", "x-echo": key}
    echo = replace(PLAIN, headers=headers, body=answer(f"You sent Bearer {key}", system_fingerprint=quote(key)))
    with standin.standing_in(API, {"json": echo, "stream": echo}) as provider:
        for way in (provider.url, f"{provider.url}/{key}/v1"):
            draft = standin.draft(tmp_path, API, modes=["json"])
            options = ["--yes", f"--base-url={way}", f"--cassettes={tmp_path}"]
            assert main.main(["record", str(draft), *options]) == 0
            for path in tmp_path.rglob("*"):
                assert key not in (path.read_text("utf-8") if path.is_file() else path.name)
            main.main(["review", f"--cassettes={tmp_path}"])
    output = capsys.readouterr()
    assert key not in output.out + output.err
    assert "a key or an account of the request was in the response and was masked" in output.out


TOKEN = "a1b2c3d4e5f6a7b8"


@pytest.mark.parametrize("way", [f"/{TOKEN}/v1", "/v1"])
def test_what_is_secret_in_the_base_url_and_the_keys_of_others_are_masked(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", standin.KEY)
    monkeypatch.setenv("SOMEBODYS_API_KEY", TOKEN)
    if way != "/v1":
        monkeypatch.delenv("SOMEBODYS_API_KEY")
    echo = replace(PLAIN, body=answer(f"You sent {TOKEN}"))
    with standin.standing_in(API, {"json": echo, "stream": echo}) as provider:
        draft = standin.draft(tmp_path, API, modes=["json"])
        url = f"--base-url={provider.url}{way}"
        assert main.main(["record", str(draft), "--yes", url, f"--cassettes={tmp_path}"]) == 0
    written = [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert any("You sent" in text for text in written)
    assert not any(TOKEN in text for text in written)


def test_after_a_leak_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = standin.KEY
    monkeypatch.setenv("OPENAI_API_KEY", key)
    spread = replace(PLAIN, headers={"content-type": "text/event-stream"}, body=stream("It is ", key[:9], key[9:]))
    with standin.standing_in(API, {"json": spread, "stream": spread}) as provider:
        draft = standin.draft(tmp_path, API, modes=["stream"])
        options = ["--yes", f"--base-url={provider.url}", f"--cassettes={tmp_path}"]
        assert main.main(["record", str(draft), *options]) == 1
    assert "has the key in pieces" in capsys.readouterr().out
    assert [path.name for path in tmp_path.rglob("*")] == ["answer.draft.yaml"]


AWS = {"content-type": "application/vnd.amazon.eventstream"}
CHUNK = {":event-type": "chunk", ":message-type": "event"}
ERROR = {":message-type": "error", ":error-code": "x"}
SECRETS = {"known": KEY, "shape": SHAPES["an API key"]}


def in_messages(*messages: bytes) -> Interaction:
    return replace(PLAIN, headers=AWS, body=b"".join(messages))


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_aws_messages_are_masked_in_headers_payload_and_base64(secret: str) -> None:
    payload = aws_chunk_payload({"p": f"a {secret} b"}, json.dumps({"text": f"é {secret}"}).encode())
    found = in_messages(
        aws_message(CHUNK, payload),
        aws_message({**ERROR, ":error-message": f"no key like {secret}"}, f"see {secret}".encode()),
        aws_message({":event-type": "a"}, json.dumps({"text": secret}).encode()),
    )
    scrubbed = scrub(found, API, [KEY]).interaction
    chunk, error, event = map(aws_parts, scrubbed.frames)
    texts = (*error[0].values(), error[1].decode(), event[1].decode(), *map(str, aws_chunk(chunk[1])))
    assert len(scrubbed.body) == len(found.body)
    assert not [each for each in texts if secret in each]
    assert json.loads(aws_chunk(chunk[1])[1])["text"].startswith("é redacted.")


def test_aws_messages_without_a_secret_are_unchanged() -> None:
    payload = b'{ "p":"abc", "bytes":"' + base64.b64encode(b'{"a": 1}') + b'"}'
    found = in_messages(aws_message(CHUNK, payload), aws_message({":event-type": "a"}, b""), aws_message(ERROR, b"{ }"))
    assert scrub(found, API, [KEY]).interaction == found


ODD = "".join(f"\\u{ord(each):04x}" for each in KEY)


@pytest.mark.parametrize(
    "messages",
    [
        (aws_message({**ERROR, ":error-message": quote(KEY).replace("%2B", "%2b").replace("c", "%63")}, b""),),
        (aws_message(CHUNK, aws_chunk_payload({}, b'{"text": "%b"}' % ODD.encode())),),
        (aws_message(ERROR, b'{"p": "%b"}' % ODD.encode()),),
        tuple(aws_message(CHUNK, aws_chunk_payload({"p": part}, b"{}")) for part in (KEY[:9], KEY[9:])),
        tuple(aws_message({**ERROR, ":error-message": part}, b"") for part in (KEY[:9], KEY[9:])),
    ],
    ids=["header", "base64", "payload", "fields in pieces", "headers in pieces"],
)
def test_aws_messages_that_cannot_be_masked_are_refused(messages: tuple[bytes, ...]) -> None:
    with pytest.raises(LeakError):
        scrub(in_messages(*messages), API, [KEY])


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_in_an_incomplete_aws_message_is_refused(secret: str) -> None:
    whole = aws_message(CHUNK, aws_chunk_payload({}, json.dumps({"text": f"{secret} and more of it"}).encode()))
    for cut in range(1, 20):
        with pytest.raises(LeakError, match="in base64"):
            scrub(in_messages(whole, whole[:-cut]), API, [KEY])


def test_an_incomplete_aws_message_that_cannot_be_decoded_is_refused() -> None:
    whole = aws_message(CHUNK, b'{"bytes": "e30\\u003d"}')
    with pytest.raises(LeakError, match="may hide a secret"):
        scrub(in_messages(whole[:-5]), API, [KEY])


def test_an_incomplete_aws_message_without_a_secret_is_kept() -> None:
    whole = aws_message(CHUNK, aws_chunk_payload({}, b'{"text": "Hello, Hello, Hello"}'))
    for cut in range(1, len(whole)):
        found = in_messages(whole, whole[:-cut])
        assert scrub(found, API, [KEY]).interaction == found


ARN = "arn:aws:bedrock:us-east-1:998877665544:inference-profile/eu.m"


@pytest.mark.parametrize("arn", [ARN, quote(ARN, safe=""), ARN.replace("aws", "aws-us-gov").replace("us-east-1", "")])
def test_only_the_account_of_an_arn_is_masked(arn: str) -> None:
    text, kinds = secrets.masked(f"no access to {arn}")
    assert (text, kinds) == (f"no access to {arn}".replace("998877665544", "redacted.red"), ["an AWS account"])
    assert secrets.masked(text) == (text, [])


@pytest.mark.parametrize("account", ["000000000000", "123456789012", "", "aws", "9988776655443"])
def test_an_arn_without_an_account_is_unchanged(account: str) -> None:
    assert not list(secrets.scan(ARN.replace("998877665544", account)))


def test_a_key_of_an_object_that_is_there_twice_is_looked_at() -> None:
    body = b'{"a": "%b", "a": "b"}' % "".join(f"\\u{ord(each):04x}" for each in KEY).encode()
    with pytest.raises(LeakError, match="cannot be masked"):
        scrub(replace(PLAIN, body=body), API, [KEY])
