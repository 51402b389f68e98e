"""The log is searched for the key at every level, but this does not make a library print more."""

from __future__ import annotations

import io
import logging

from llm_conformance.calling.log_watch import loggers_that_write


def test_a_library_prints_what_it_would_print_without_the_suite() -> None:
    printed = io.StringIO()
    library = logging.getLogger("some.library")  # as those of LiteLLM: a handler of its own, and no level of its own
    handler = logging.StreamHandler(printed)
    handler.setLevel(logging.DEBUG)
    library.addHandler(handler)
    try:
        with loggers_that_write("the key") as found:
            library.debug("sent with the key")
            library.warning("slow")
    finally:
        library.removeHandler(handler)
    assert printed.getvalue() == "slow\n"
    assert found == ["some.library"]
    assert handler.level == logging.DEBUG
