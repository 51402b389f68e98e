"""Whatever an adapter does, every cell has a clear status, the run goes on, and nothing is an error of the suite."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from llm_conformance.rules.segments import shortened
from tests import miniature

ANSWER = """\
import json

ANSWER = {
    "message": "Eight.", "reasoning": "Spiders are arachnids, so not six.", "provider": "deepseek",
    "model": "deepseek-reasoner", "id": "a-1", "finish_reason": "stop", "raw_finish_reason": "stop",
    "segments": [{"type": "reasoning", "content": "Spiders are arachnids, so not six."},
                 {"type": "text", "content": "Eight."}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 30, "total_tokens": 42, "cached_tokens": 0,
              "reasoning_tokens": 20},
}

class Adapter:
    providers = ["deepseek"]
"""


def judge(pytester: pytest.Pytester, methods: str, *options: str) -> tuple[pytest.RunResult, list[dict[str, Any]]]:
    apart = "sleep(30)" in methods or "3600" in methods or "SIGINT" in methods  # it is about the process
    source = ANSWER + textwrap.indent(textwrap.dedent(methods), "    ") + "\nconformance_adapter = Adapter\n"
    pytester.makepyfile(adapter=source)
    result, report = miniature.run(pytester, "--adapter=adapter.py", "--conformance-timeout=0.5", *options, apart=apart)
    return result, report["results"]


def with_status(results: list[dict[str, Any]], status: str) -> set[str]:
    return {result["rule"] for result in results if result["status"] == status}


def test_a_good_answer_passes(pytester: pytest.Pytester) -> None:
    result, results = judge(pytester, "def parse(self, http, call): return ANSWER")
    assert result.ret == 0
    assert not with_status(results, "fail")
    assert {"MSG-1", "MSG-2", "RSN-1", "USE-3", "FIN-1"} <= with_status(results, "pass")
    assert {"STR-1", "STR-2"} <= with_status(results, "unsupported")


def test_a_warning_is_no_failure_even_under_w_error(pytester: pytest.Pytester) -> None:
    methods = """
        def parse(self, http, call):
            import warnings
            warnings.warn("old", DeprecationWarning)
            return ANSWER
        """
    result, results = judge(pytester, methods, "-W", "error")
    assert result.ret == 0
    assert not with_status(results, "fail")


@pytest.mark.parametrize(
    ("texts", "message_part"),
    [
        (
            ["Eight", "."],
            'expected segments, from number 1 on, [["text", "Eight."]]; got [["text", "Eight"], ["text", "."]]',
        ),
        (
            list("Eight."),
            'expected segments, from number 1 on, [["text", "Eight."]]; got [["text", "E"], ["text", "i"]',
        ),
    ],
)
def test_segments_are_shown_from_the_first_difference(
    pytester: pytest.Pytester, texts: list[str], message_part: str
) -> None:
    segments = [{"type": "text", "content": text} for text in texts]
    answer = f"ANSWER | {{'message': '{''.join(texts)}', 'segments': ANSWER['segments'][:1] + {segments}}}"
    _, results = judge(pytester, f"def parse(self, http, call): return {answer}", "--conformance-rule=RSN-3")
    (message,) = {each["message"] for each in results if each["status"] == "fail"}
    assert message_part in message


def test_a_difference_late_in_a_long_segment_is_shown() -> None:
    long = "Spiders have legs. " * 20
    actual, expected = shortened([("text", f"{long}Eight.")], [("text", f"{long}Nine."), ("other", None)])
    assert (actual, expected) == (
        [("text", "... Spiders have legs. Eight.")],
        [("text", "... Spiders have legs. Nine."), ("other", None)],
    )


def test_an_adapter_may_print(pytester: pytest.Pytester) -> None:
    result, results = judge(pytester, "def parse(self, http, call): print('hello'); return ANSWER")
    assert result.ret == 0
    assert not with_status(results, "fail")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("def parse(self, http, call): raise RuntimeError('my own fault')", "raised RuntimeError: my own fault"),
        ("def parse(self, http, call): raise SystemExit(3)", "raised SystemExit: 3"),
        ("def parse(self, http, call): return 42", "returned int 42, which is neither a mapping"),
        ("def parse(self, http, call): return object()", "returned object <object object>, which is neither a mapping"),
        ("def parse(self, http, call): return None", "returned NoneType None, which is neither"),
        ("def parse(self, http, call):\n    import time; time.sleep(30)", "did not come back within"),
        ("async def parse(self, http, call):\n    import asyncio; await asyncio.sleep(30)", "did not come back within"),
        ("def complete(self, call): return ANSWER", "never asked call.base_url for anything"),
        ("def parse_stream(self, chunks, call): return 7", "raised TypeError: the stream is int, which is no iterable"),
    ],
    ids=lambda value: None if " " in value else value,
)
def test_a_call_without_an_answer_is_one_failure_and_blocks_the_rules_that_read_the_answer(
    pytester: pytest.Pytester, methods: str, message: str
) -> None:
    result, results = judge(pytester, methods)
    failed = [found for found in results if found["status"] == "fail"]
    assert result.ret == 1
    assert {found["rule"] for found in failed} == {"SHP-1"}
    assert all(message in found["message"] for found in failed)
    assert {"MSG-2", "RSN-1", "FIN-1", "USE-3", "PRV-1", "PRV-2"} <= with_status(results, "blocked")
    assert with_status(results, "pass") <= {"PRV-3", "PRV-11", "PRV-12", "ERR-4", "STR-2"}
    assert not with_status(results, "error")


def test_a_failure_that_is_an_exception_names_its_place_and_has_its_traceback(pytester: pytest.Pytester) -> None:
    methods = """
        def parse(self, http, call): return self.read({})
        def read(self, body):
            try:
                return body["choices"]
            except KeyError as error:
                raise LookupError("no choices") from error
        """
    _, results = judge(pytester, methods)
    (failed,) = [found for found in results if found["status"] == "fail"]
    assert failed["cause"].startswith("LookupError from KeyError in adapter.py:")
    assert failed["cause"].endswith(" read")
    lines = failed["traceback"].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith(", in read")
    assert "KeyError: 'choices'" in lines
    assert lines[-1] == "LookupError: no choices"
    assert "attempt.py" not in failed["traceback"]


def test_rules_that_are_only_blocked_are_no_success(pytester: pytest.Pytester) -> None:
    result, results = judge(pytester, "def parse(self, http, call): return 42", "--conformance-rule=MSG-2")
    assert {found["status"] for found in results} == {"blocked", "unsupported"}
    assert result.ret == 1


def test_a_hanging_method_does_not_stop_the_others(pytester: pytest.Pytester) -> None:
    result, results = judge(
        pytester,
        """
        def parse(self, http, call): return ANSWER
        def parse_stream(self, chunks, call):
            import time
            time.sleep(30)
        """,
    )
    assert result.ret == 1
    answered = {found["method"] for found in results if found["rule"] == "MSG-2" and found["status"] == "pass"}
    assert answered == {"parse"}
    assert {found["method"] for found in results if found["status"] == "fail"} == {"parse_stream"}


def test_changing_the_call_breaks_prv_3_and_nothing_else(pytester: pytest.Pytester) -> None:
    _, results = judge(pytester, "def parse(self, http, call): call.messages[0]['content'] = ''; return ANSWER")
    assert with_status(results, "fail") == {"PRV-3"}


def test_opening_a_connection_breaks_prv_11_and_names_the_place(pytester: pytest.Pytester) -> None:
    _, results = judge(
        pytester,
        """
        def parse(self, http, call):
            import socket
            try:
                socket.create_connection(("192.0.2.1", 443), timeout=5)
            except OSError:
                pass
            return ANSWER
        """,
    )
    (failed,) = [found for found in results if found["status"] == "fail"]
    assert failed["rule"] == "PRV-11"
    assert "192.0.2.1" in failed["message"]
    assert "adapter.py" in failed["message"]


def test_a_name_look_up_is_refused_too(pytester: pytest.Pytester) -> None:
    _, results = judge(
        pytester, "def parse(self, http, call):\n    import socket; socket.getaddrinfo('api.example.com', 443)"
    )
    assert any("api.example.com" in str(found["message"]) for found in results if found["status"] == "fail")


def test_items_that_are_no_events_break_str_3(pytester: pytest.Pytester) -> None:
    _, results = judge(
        pytester,
        """
        def parse_stream(self, chunks, call):
            list(chunks)
            yield "Eight."
            yield {"event_type": "response.completed", "response": ANSWER}
        """,
    )
    assert with_status(results, "fail") == {"STR-1", "STR-3"}


def test_a_plain_answer_cut_into_events_is_no_stream(pytester: pytest.Pytester) -> None:
    _, results = judge(
        pytester,
        """
        def stream(self, call):
            import httpx
            request = {key: value for key, value in call.request.items() if key != "stream"}
            key = {"authorization": call.api_key}
            httpx.post(call.base_url + call.path, json=request, headers=key).raise_for_status()
            yield {"event_type": "made.up"}
            for _ in range(3):
                yield {"event_type": "response.completed", "response": ANSWER}
        """,
    )
    assert {"STR-1", "STR-2", "STR-3"} <= with_status(results, "fail")


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("annotations=[{'start': 0.0, 'end': 2.0, 'data': {}}]", {"SHP-1"}),
        ("raw_events=[{}]", {"PRV-8"}),
        ("request_id='x', created='2025-01-21T17:35:52.000+00:00'", set()),
        ("created='2025-01-21T17:35:53Z'", {"PRV-6"}),
        ("usage={**ANSWER['usage'], 'audio_prompt_tokens': 0}", {"USE-4"}),
        ("id='x'", {"PRV-1"}),
        ("model='deepseek-chat'", {"PRV-4"}),
        ("raw_finish_reason='length'", {"FIN-2"}),
        ("usage={**ANSWER['usage'], 'reasoning_tokens': 7}", {"USE-5"}),
        ("extras={1: 2}", {"PRV-2"}),
        ("text='Seven.'", {"MSG-4"}),
        ("tool_calls=[{'name': 'x', 'arguments': '{}'}]", {"TOOL-1"}),
    ],
)
def test_a_wrong_value_breaks_its_own_rule(pytester: pytest.Pytester, change: str, broken: set[str]) -> None:
    capabilities = (
        "capabilities = ['reasoning', 'segments', 'annotations', 'tools', 'raw'][: 5 if 'raw_events' in CHANGE else 4]"
    )
    methods = f"CHANGE = {change!r}\n{capabilities}\ndef parse(self, http, call): return dict(ANSWER, {change})"
    if change == "extras={1: 2}":
        methods = methods.replace("dict(ANSWER, extras={1: 2})", "{**ANSWER, 'extras': {1: 2}}")
    _, results = judge(pytester, methods)
    assert with_status(results, "fail") == broken


def test_changing_the_headers_of_the_answer_breaks_prv_3(pytester: pytest.Pytester) -> None:
    _, results = judge(pytester, "def parse(self, http, call): http.headers.clear(); return ANSWER")
    assert with_status(results, "fail") == {"PRV-3"}


@pytest.mark.parametrize(
    "methods",
    [
        (
            "def parse(self, http, call):\n    class Odd(Exception):\n        def __str__(self): raise ValueError\n"
            "    raise Odd"
        ),
        "def parse(self, http, call): call.messages[0]['self'] = call.messages; return ANSWER",
        "def parse(self, http, call): return {**ANSWER, 'message': 'Eight.\\ud83d'}",
        "def parse(self, http, call):\n    deep = {}\n    for _ in range(9999): deep = {'a': deep}\n"
        "    return {**ANSWER, 'extras': deep}",
    ],
    ids=["an exception without text", "a call that contains itself", "half a character", "nesting without end"],
)
def test_odd_values_fail_and_are_no_error_of_the_suite(pytester: pytest.Pytester, methods: str) -> None:
    result, results = judge(pytester, methods)
    assert result.ret == 1
    assert with_status(results, "fail")
    assert not with_status(results, "error")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("isolation", "suite"), [("none", "os.getpid()"), ("process", "os.getppid()")])
def test_ctrl_c_stops_the_run_without_failures(pytester: pytest.Pytester, isolation: str, suite: str) -> None:
    result, results = judge(
        pytester,
        f"""
        def parse(self, http, call):
            import os, signal, time
            os.kill({suite}, signal.SIGINT)
            time.sleep(1)
            return ANSWER
        """,
        "--conformance-timeout=5",
        f"--conformance-isolation={isolation}",
    )
    assert result.ret == 2
    assert not with_status(results, "fail")


def test_a_thread_that_never_ends_does_not_keep_the_process(pytester: pytest.Pytester) -> None:
    result, results = judge(
        pytester,
        """
        async def parse(self, http, call):
            import asyncio, time
            await asyncio.to_thread(time.sleep, 3600)
        """,
        "--conformance-rule=SHP-1",
    )
    assert result.ret == 1
    assert with_status(results, "fail") == {"SHP-1"}


def test_late_deltas_are_no_failure_if_streaming_is_not_declared(pytester: pytest.Pytester) -> None:
    methods = """
        capabilities = {}
        def parse_stream(self, chunks, call):
            list(chunks)
            yield {{"event_type": "response.output_text.delta", "delta": "Eight."}}
            yield {{"event_type": "response.reasoning.delta", "delta": ANSWER["reasoning"]}}
            yield {{"event_type": "response.completed", "response": ANSWER}}
        """
    _, results = judge(pytester, methods.format("['reasoning']"))
    assert not with_status(results, "fail")
    _, results = judge(pytester, methods.format("['reasoning', 'streaming']"))
    assert with_status(results, "fail") == {"STR-7"}


def test_an_endless_stream_is_stopped(pytester: pytest.Pytester) -> None:
    _, results = judge(
        pytester,
        """
        def parse_stream(self, chunks, call):
            while True:
                yield {"event_type": "response.output_text.delta", "delta": "x"}
        """,
        "--conformance-timeout=20",
    )
    failed = [str(found["message"]) for found in results if found["status"] == "fail"]
    assert any("more than 200000 events" in message for message in failed)


def test_a_request_for_a_mode_without_recording_is_unsupported(pytester: pytest.Pytester) -> None:
    scenario = miniature.SCENARIO.replace("json: 0, stream: 1, same_content: true", "json: 0")
    miniature.write(pytester.path / "more", scenario=scenario)
    _, results = judge(
        pytester,
        """
        def complete(self, call):
            import httpx
            key, request = {"authorization": call.api_key}, {**call.request, "stream": True}
            httpx.post(call.base_url + call.path, json=request, headers=key).raise_for_status()
        """,
    )
    assert {found["status"] for found in results} == {"unsupported", "vacuous"}


def test_capabilities_not_declared_are_unsupported_unless_what_comes_back_is_wrong(
    pytester: pytest.Pytester,
) -> None:
    _, results = judge(
        pytester,
        """
        capabilities = ["annotations"]
        def parse(self, http, call): return {**ANSWER, "reasoning": "something else", "segments": []}
        """,
    )
    assert with_status(results, "fail") == {"RSN-1"}
    assert "RSN-3" in with_status(results, "unsupported")


def test_details_that_are_not_declared_may_be_left_out(pytester: pytest.Pytester) -> None:
    details = "id=None, model='deepseek-reasoner', raw_finish_reason=None"
    counts = "usage={**ANSWER['usage'], 'reasoning_tokens': None}"
    _, results = judge(
        pytester,
        f"""
        capabilities = ["reasoning", "segments", "annotations", "tools"]
        def parse(self, http, call): return dict(ANSWER, {details}, {counts})
        """,
    )
    assert not with_status(results, "fail")
    assert {"PRV-1", "PRV-4", "FIN-2", "USE-5"} <= with_status(results, "unsupported")


@pytest.mark.parametrize(
    "methods",
    [
        "async def parse(self, http, call): return ANSWER",
        "def parse(self, http, call):\n"
        "    class Model:\n        def model_dump(self, mode): return ANSWER\n    return Model()",
        "def parse(self, http, call):\n    class Own:\n        def to_dict(self): return ANSWER\n    return Own()",
        (
            "async def parse_stream(self, chunks, call):\n"
            "    for chunk in chunks:\n"
            "        delta = json.loads(chunk[6:])['choices'][0]['delta'] if b'DONE' not in chunk else {}\n"
            "        if delta.get('content'):\n"
            "            yield {'event_type': 'response.output_text.delta', 'delta': delta['content']}\n"
            "        if delta.get('reasoning_content'):\n"
            "            yield {'event_type': 'response.reasoning.delta', 'delta': delta['reasoning_content']}\n"
            "    yield {'event_type': 'response.completed', 'response': ANSWER}"
        ),
    ],
    ids=["async", "model_dump", "to_dict", "async stream"],
)
def test_every_form_of_method_and_answer_is_accepted(pytester: pytest.Pytester, methods: str) -> None:
    # This adapter takes each piece for a frame, so STR-4 would fail for streams that are cut elsewhere.
    result, results = judge(pytester, methods, "--conformance-examples=0")
    assert not with_status(results, "fail")
    assert result.ret == 0


def test_events_may_be_objects_with_to_dict_only(pytester: pytest.Pytester) -> None:
    _, results = judge(
        pytester,
        """
        def parse_stream(self, chunks, call):
            class Event:
                def __init__(self, **fields):
                    self.fields = fields

                def to_dict(self):
                    return self.fields

            yield Event(event_type="response.completed", response=ANSWER)
        """,
    )
    assert "STR-2" in with_status(results, "pass")
    assert with_status(results, "fail") == {"STR-1"}  # there was no delta
