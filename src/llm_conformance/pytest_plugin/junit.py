"""The JUnit file that `--junitxml` writes: a test case `MSG-2 openai/refusal complete` in the class `mypkg`.

pytest writes one test case for each item, and names it after the item's id. But an item judges an exchange by many
rules. So the file is edited after pytest has written it: each rule gets a test case with an equal share of the item's
time.
"""

from __future__ import annotations

import copy
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from llm_conformance.locations import CASSETTES
from llm_conformance.pytest_plugin.failures import JudgingItem, Told

CLASS, NAME, VERDICTS = "conformance adapter", "conformance test", "conformance verdicts"
"""The properties of pytest's test cases from which ours are made. pytest-xdist sends them to the controller."""

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnitNames:
    """The plugin that names the test cases of the suite; other tests of the same run keep their names."""

    NAME = "conformance-junit"

    def __init__(self, config: pytest.Config) -> None:
        path = config.getoption("xmlpath", None)
        self._path = Path(os.path.expanduser(os.path.expandvars(path))).absolute() if path else None
        self._is_worker = hasattr(config, "workerinput")

    @property
    def _is_wanted(self) -> bool:
        """Whether a JUnit file is written, or may be written by the controller."""
        return self._path is not None or self._is_worker

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Attach the names to the item's reports."""
        if isinstance(item, JudgingItem) and self._is_wanted:
            names = [(CLASS, item.judged), (NAME, item.heading)]
            item.user_properties += (each for each in names if each not in item.user_properties)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Attach the verdicts. pytest reads the properties from the report of the teardown."""
        if isinstance(item, JudgingItem) and self._is_wanted and item.told:
            others = [each for each in item.user_properties if each[0] != VERDICTS]  # drops those of an earlier run
            item.user_properties[:] = [*others, (VERDICTS, json.dumps(list(map(item.told_of, item.told))))]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Edit the file after pytest has written it."""
        yield
        if self._path is not None and not self._is_worker and self._path.is_file():
            tree = ElementTree.parse(self._path)  # noqa: S314 - pytest has written it just now
            for suite in tree.iter("testsuite"):
                _edit(suite)
            tree.write(self._path, encoding="utf-8", xml_declaration=True)


def _edit(suite: ElementTree.Element) -> None:
    """Replace pytest's test cases with ours, and correct the numbers of cases."""
    edited = [case for each in suite for case in (_cases(each) if each.tag == "testcase" else [each])]
    is_longer = len(edited) > len(suite)
    suite[:] = edited
    if is_longer:
        cases = suite.findall("testcase")
        suite.set("tests", str(len(cases)))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(name, str(sum(case.find(tag) is not None for case in cases)))


def _cases(case: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield a test case for each verdict of one of pytest's test cases; if it has no verdict, yield it unchanged."""
    properties = case.find("properties")
    values = {each.get("name"): each.get("value", "") for each in properties or ()}
    if properties is None or not {CLASS, NAME} <= values.keys():
        yield case
        return
    for each in list(properties):
        if each.get("name") in (CLASS, NAME, VERDICTS):
            properties.remove(each)
    if not len(properties):
        case.remove(properties)
    case.set("classname", values[CLASS])
    case.set("name", values[NAME])
    verdicts = json.loads(values.get(VERDICTS, "[]"))
    for rule, outcome, message, text in verdicts:
        yield _of_rule(case, f"{rule} {values[NAME]}", outcome, message, text, parts=len(verdicts))
    if not verdicts:
        for child in case:
            # pytest's own text of a skip names a place in this plugin.
            _tell(child, child.get("message"), child.get("message") if child.tag == "skipped" else child.text)
        yield case


def _of_rule(
    case: ElementTree.Element, name: str, outcome: Told, message: str, text: str | None, parts: int
) -> ElementTree.Element:
    """Return the test case of one rule, made from the test case of its exchange."""
    made = copy.deepcopy(case)
    made.set("name", name)
    made.set("time", f"{float(case.get('time', '0')) / parts:.4f}")
    for child in list(made):
        if child.tag in ("failure", "skipped"):
            made.remove(child)
    if outcome == "failure":
        _tell(ElementTree.SubElement(made, "failure"), message, text)
    elif outcome != "passed":
        _tell(ElementTree.SubElement(made, "skipped", type=f"pytest.{outcome}"), message, message)
    return made


def _tell(element: ElementTree.Element, message: str | None, text: str | None) -> None:
    """Set the message (one line) and the text of an outcome, without the suite's own paths."""
    if message is not None:
        element.set("message", _legal(" ".join(message.split())))
    element.text = text and _legal(text.replace(str(CASSETTES), CASSETTES.name))


def _legal(text: str) -> str:
    """Return a text. Each character that XML does not allow is replaced by its number."""
    return _ILLEGAL.sub(lambda match: f"#x{ord(match[0]):02X}", text)
