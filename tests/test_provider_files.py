"""Mistakes in the TOML files of providers and wire formats: one message each, with file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llm_conformance import toml_files
from llm_conformance.locations import FORMATS, PROVIDERS
from llm_conformance.scenarios import lint
from llm_conformance.wire import read_rules
from llm_conformance.wire.providers import table
from llm_conformance.yaml_files import BadFileError
from tests import inline, miniature

ZAI = (PROVIDERS / "zai.toml").read_text("utf-8")
ZAI_LINES = ZAI.splitlines()
CONVERSE = (FORMATS / "converse" / "read.toml").read_text("utf-8")
FRAMINGS = "array, aws chunks, aws event stream, lines, server-sent events, stream+json"
FORMAT_NAMES = (
    "chat, cohere, cohere_v1, completions, converse, gemini, interactions, messages, ollama, responses, workers_ai"
)


def line_of(text: str, part: str) -> int:
    """Return the line of the first occurrence of a part."""
    return text[: text.index(part)].count("\n") + 1


def refused(directory: Path, text: str) -> list[str]:
    """Return the problems of `zai.toml` with this text, without the path in front."""
    path = directory / "zai.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadFileError) as error:
        table.load(directory)
    return [str(problem).removeprefix(f"{path}:") for problem in error.value.problems]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            "reasoning_fields =",
            "reasoning_feilds =",
            "api.chat.reasoning_feilds: no such key; did you mean reasoning_fields?",
        ),
        ("pricing =", "colour =", "api.chat.colour: no such key"),
        ('title = "Z.AI (GLM) chat completions"', "title = 7", "api.chat.title: must be a string, and is 7"),
        (
            'policy = "with tools"',
            'policy = "with tool"',
            'api.chat.round_trip.policy: must be "required", "with tools", "optional", "refused", "ignored" or "none", '
            'and is "with tool"; did you mean with tools?',
        ),
        (
            'offset_unit = "none"',
            'offset_unit = "utf8 bytes"',
            'api.chat.offset_unit: must be "code points", "utf-8 bytes" or "none", and is "utf8 bytes"; '
            "did you mean utf-8 bytes?",
        ),
        (
            'sensitive = "content_filter"',
            'sensitive = "refused"',
            'api.chat.finish.sensitive: must be "stop", "length", "tool_calls", "content_filter", "error" or "", '
            'and is "refused"',
        ),
        ('code = "error/code"', 'kode = "error/code"', "api.chat.error.kode: no such key; did you mean code?"),
        ("cached_tokens =", "cache_tokens =", "api.chat.usage.cache_tokens: no such key; did you mean cached_tokens?"),
    ],
)
def test_a_provider_file_has_the_form_of_its_schema(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    text = ZAI.replace(right, wrong)
    assert text != ZAI
    assert [f"{line_of(text, wrong)}: {message}"] == [
        problem for problem in refused(tmp_path, text) if "is missing" not in problem
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            'wire = "chat"',
            'wire = "chatt"',
            f"api.chat.wire: no such wire format: 'chatt'; there are {FORMAT_NAMES}; did you mean chat?",
        ),
        (
            'wire = "chat"',
            'framing = "sse"\nwire = "chat"',
            f"api.chat.framing: no such framing: 'sse'; there are {FRAMINGS}",
        ),
        (
            'base_urls = [\n    "https://api.z.ai/api/paas/v4"',
            'base_urls = ["api.z.ai/api/paas/v4"',
            "api.chat.base_urls.0: 'api.z.ai/api/paas/v4' has to begin with https:// or http:// and to end without a /",
        ),
        ('path = "/chat', 'path = "chat', "api.chat.path: 'chat/completions' has to begin with a /"),
        (
            'message = "error/message"',
            'message = "/error/message"',
            "api.chat.error.message: '/error/message' is not a path of fields; "
            "write it as in error/message, without a / in front",
        ),
        (
            'total_tokens = ["total_tokens"]',
            'total_tokens = ["/total_tokens"]',
            "api.chat.usage.total_tokens: '/total_tokens' is not a path of fields; "
            "write it as in total, details/cached?, -input",
        ),
        (
            "/thinking/type",
            "thinking/type",
            "api.chat.switches.0: 'thinking/type' is not a JSON pointer; write it as in /thinking/type",
        ),
        (
            'slot = "/reasoning_content"',
            'slot = "reasoning_content"',
            "api.chat.round_trip.slot: 'reasoning_content' is not a JSON pointer; write it as in /reasoning_content",
        ),
        (
            'slot = "/reasoning_content"',
            'slot = ""',
            "api.chat.round_trip.slot: '' does not fit the policy 'with tools'; "
            "name the place where the reasoning goes",
        ),
        (
            'pricing = "',
            'url_variables = {project = "PROJECT"}\npricing = "',
            "api.chat.url_variables.project: no base URL has {project}",
        ),
    ],
)
def test_the_columns_of_a_provider_file_are_checked(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    text = ZAI.replace(right, wrong)
    assert text != ZAI
    first_difference = next(
        number for number, line in enumerate(text.splitlines(), 1) if line != ZAI.splitlines()[number - 1]
    )
    assert refused(tmp_path, text) == [f"{first_difference}: {message}"]


BACKENDS = """
[api.chat.backends.a]
source = "a source of facts"
models = ["glm-5.3"]
varies.choices = ["one"]
[api.chat.backends.b]
source = "a source of facts"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            '["glm-5.3"]',
            '["glm-5.9"]',
            "api.chat.backends.a.models.0: 'glm-5.9' is not a model of the row of the API; did you mean glm-5.3?",
        ),
        (
            ".choices =",
            ".choises =",
            "api.chat.backends.a.varies.choises: the row of the API has no varies.choises; did you mean choices?",
        ),
        (
            '["one"]',
            '["ones"]',
            "api.chat.backends.a.varies.choices.0: 'ones' is not a way of the row of the API; did you mean one?",
        ),
        (
            "models =",
            "further.usage = '[]'\nmodels =",
            "api.chat.backends.a.further.usage: '[]' is not a JSON object; write it as in '{\"logprobs\": null}'",
        ),
        ("models =", "model =", "api.chat.backends.a.model: no such key; did you mean models?"),
    ],
)
def test_backends_have_what_their_row_has(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    backends = BACKENDS.replace(right, wrong)
    assert backends != BACKENDS
    number = next(
        number
        for number, (line, before) in enumerate(
            zip(backends.splitlines(), BACKENDS.splitlines(), strict=False), ZAI.count("\n") + 1
        )
        if line != before
    )
    assert refused(tmp_path, ZAI + backends) == [f"{number}: {message}"]


def test_what_no_backend_has_is_an_error(tmp_path: Path) -> None:
    backends = BACKENDS + 'models = ["glm-5.3"]\n'
    (first, *_) = refused(tmp_path, ZAI + backends)
    assert first.endswith("no backend has this model; add it to one")


def test_params_ask_for_a_way_of_the_row(tmp_path: Path) -> None:
    more = "\n[api.chat.way_params.choices]\nseverel = { n = 2 }\n"
    line = (ZAI + more).count("\n")
    message = "api.chat.way_params.choices.severel: the row of the API has no varies.choices.severel; add it there, too"
    assert refused(tmp_path, ZAI + more) == [f"{line}: {message}"]


def test_a_model_that_sends_blank_think_blocks_is_one_of_the_row(tmp_path: Path) -> None:
    more = "\n[api.chat.blank_blocks]\n'glm-9' = ''\n"
    line = (ZAI + more).count("\n")
    message = "api.chat.blank_blocks.glm-9: 'glm-9' is not one of the models; add it there, too"
    assert refused(tmp_path, ZAI + more) == [f"{line}: {message}"]


def test_an_error_of_a_backend_names_one(tmp_path: Path) -> None:
    text = ZAI.replace("{ status = 429,", '{ status = 429, backend = "c",', 1) + BACKENDS
    (problem,) = refused(tmp_path, text)
    assert problem.endswith(".backend: 'c' is not one of the backends")


def test_inherited_backends_have_to_fit_the_columns_that_an_api_states(tmp_path: Path) -> None:
    like = "\n[api.x]\nlike = 'zai:chat'\n[api.x.models]\nother = ''\n"
    problems = refused(tmp_path, ZAI + BACKENDS + like)
    line = (ZAI + BACKENDS + like).splitlines().index("like = 'zai:chat'") + 1
    (problem,) = (each for each in problems if each.startswith(f"{line}:"))
    assert problem.startswith(f"{line}: api.x.like: backends.a.models.0: 'glm-5.3' is not a model of the row")
    assert problem.endswith("; state the backends, too")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "[api.x]\nlike = 'zai:chatt'\n",
            "api.x.like: no such API: 'zai:chatt'; write provider:api; did you mean zai:chat?",
        ),
        ("[api.x]\nlike = 'chat'\n", "api.x.like: no such API: 'chat'; write provider:api"),
        (
            "[api.x]\nlike = 'zai:x'\n",
            "api.x.like: zai:x is like zai:x; one of them has to state its columns",
        ),
    ],
)
def test_like_names_an_api(tmp_path: Path, more: str, message: str) -> None:
    text = f"{ZAI}\n{more}"
    (problem,) = refused(tmp_path, text)
    assert problem.startswith(f"{line_of(text, 'like =')}: {message}")


def test_all_problems_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text("[api.chat\n", "utf-8")
    text = ZAI.replace("title =", "titel =").replace('"none"', '"bytes"')
    (tmp_path / "zai.toml").write_text(text, "utf-8")
    with pytest.raises(BadFileError) as error:
        table.load(tmp_path)
    assert [(problem.path.name, problem.line) for problem in error.value.problems] == [
        ("acme.toml", 1),
        ("zai.toml", 1),  # title is missing in [api.chat]
        ("zai.toml", 2),
        ("zai.toml", line_of(text, "offset_unit")),
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("reasoning =", "raesoning =", "raesoning: no such key; did you mean reasoning?"),
        ('at = "messageStop"', 'at = "messageStop//a"', "at: no such path: 'messageStop//a', at '/a'"),
        (
            'at = "messageStop"',
            'at = "messageStop[type]"',
            "at: no such path: 'messageStop[type]', at 'messageStop[type]'",
        ),
        ('at = "messageStop"', 'at = { jsn = "x" }', "at.jsn: no such key; did you mean json?"),
        ('usage = "usage"', 'usage = "usage/"', "usage: 'usage/' is not a path; write a/b, /a/b, #1 or ."),
        ('block = ["#1"]', 'block = ["#2"]', "block: '#2' is the position in list 2, but `at` goes through 1"),
        ('span = "block"', 'span = "text"', 'span: must be "block", and is "text"'),
        ('citation = "."\n', 'start = "start"\n', "the rule: `start` needs `citation`, which is missing"),
    ],
)
def test_read_rules_are_checked(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    text = CONVERSE.replace(right, wrong, 1)
    assert text != CONVERSE
    path = tmp_path / "converse" / "read.toml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    with pytest.raises(BadFileError) as error:
        read_rules.load(tmp_path)
    problem = error.value.problems[0]
    found = re.sub(r"^read\.\d+\.?", "", problem.message) or problem.message
    if message.startswith("the rule"):
        assert found.endswith(message.removeprefix("the rule"))
    else:
        assert (problem.line, found) == (line_of(text, wrong), message)


TOML = """\
# x
a.b = 1
list = [
  "[c]",
  "d = 1",
]
[t]
"q.r" = '''
z = 1
'''
z = {y = 2}
[[u.v]]
[[u.v]]
w = 1
[u.v.x]
k = 1
"""


def test_a_line_is_found_whatever_the_toml_looks_like() -> None:
    lines: dict[toml_files.Where, int] = {
        ("a", "b"): 2,
        ("list", 1): 3,
        ("t",): 7,
        ("t", "q.r"): 8,
        ("t", "z", "y"): 11,
        ("u", "v", 0): 12,
        ("u", "v", 1, "w"): 14,
        ("u", "v", 1, "x", "k"): 16,
        ("t", "missing"): 7,
        ("missing",): 1,
    }
    assert {where: toml_files.line_of(TOML, where) for where in lines} == lines


CONFTEST = """
from pathlib import Path
from llm_conformance.wire.providers import table
table.PROVIDERS = Path(__file__).parent / "providers"
"""


def test_a_run_and_the_lint_refuse_a_bad_provider_file(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    providers = pytester.mkdir("providers")
    (providers / "zai.toml").write_text(ZAI.replace("title =", "titel ="), "utf-8")
    message = f"{providers / 'zai.toml'}:2: api.chat.titel: no such key; did you mean title?"
    pytester.makeconftest(CONFTEST)
    result = inline.run(
        pytester,
        *(str(miniature.RULES), f"--confcutdir={pytester.path}", "--adapter=adapters", str(pytester.path)),
        apart=True,  # the provider table is read once in a process
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()
    assert "Traceback" not in result.stderr.str()
    monkeypatch.setattr(table, "PROVIDERS", providers)
    table.table.cache_clear()
    try:
        assert lint.main([str(providers)]) == 1
    finally:
        table.table.cache_clear()
    assert message in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("body = '{\"a\":'", "api.chat.statuses.0.body: '{\"a\":' is not JSON"),
        ('body = \'{"a": "$mesage"}\'', "api.chat.statuses.0.body: no such placeholder: '$mesage'"),
        ("body = '{\"a\": 7}'", "api.chat.statuses.0.body: '{\"a\": 7}' has no place for $message"),
        ("means = 503", "api.chat.statuses.0.means: a status of 429 means itself; leave it out"),
        ('type = "busy"', "api.chat.statuses.0.type: the error body has no place for a type; state it in `error`"),
    ],
)
def test_mistakes_in_the_errors_of_a_provider(tmp_path: Path, wrong: str, message: str) -> None:
    right = 'status = 429, code = "1302"'
    assert right in ZAI
    text = ZAI.replace(right, f"{right}, {wrong}")
    first = refused(tmp_path, text)[0]
    assert first.partition(": ")[2].startswith(message)
