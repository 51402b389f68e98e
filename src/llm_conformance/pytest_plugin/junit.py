"""Readable names in the JUnit file that `--junitxml` writes: `MSG-2 openai/refusal complete` in the class `mypkg`.

pytest names a test case after the id of its item. That id has to stay as it is, for `--lf`, pytest-split and the
command line, so the file is edited when pytest has written it.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Generator
from pathlib import Path

import pytest

from llm_conformance.locations import CASSETTES
from llm_conformance.pytest_plugin.failures import JudgingItem

CLASS, NAME = "conformance adapter", "conformance test"
"""The properties of a test case from which its names are taken. pytest-xdist sends them to the controller."""


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

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Edit the file after pytest has written it."""
        yield
        if self._path is not None and not self._is_worker and self._path.is_file():
            tree = ElementTree.parse(self._path)  # noqa: S314 - pytest has written it just now
            for case in tree.iter("testcase"):
                _rename(case)
            tree.write(self._path, encoding="utf-8", xml_declaration=True)


def _rename(case: ElementTree.Element) -> None:
    """Name a test case of the suite, and take the suite's own paths out of its texts."""
    properties = case.find("properties")
    values = {each.get("name"): each.get("value", "") for each in properties or ()}
    if properties is None or not {CLASS, NAME} <= values.keys():
        return
    case.set("classname", values[CLASS])
    case.set("name", values[NAME])
    for each in list(properties):
        if each.get("name") in (CLASS, NAME):
            properties.remove(each)
    if not len(properties):
        case.remove(properties)
    for child in case:
        if (message := child.get("message")) is not None:
            child.set("message", " ".join(message.split()))
        text = child.get("message") if child.tag == "skipped" else child.text  # pytest's has the place in the plugin
        child.text = text and text.replace(str(CASSETTES), CASSETTES.name)
