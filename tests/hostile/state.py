"""What an adapter does to the process that it runs in: patched modules, hooks, limits, the environment, its own call.

Where something is spoilt for good, the next call of the same process shows it; the judging process is never touched.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import gc
import importlib
import io
import json
import locale
import logging
import os
import random
import signal
import socket
import sys
import tempfile
import time
import typing
import warnings
from collections.abc import Callable
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import Function, breaks, fault, harmless_but_lasting, right
from tests.hostile.healthy import answer


def _broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError("patched")


def _spoiling(part: str, **more: Any) -> Callable[[Function], Function]:
    return breaks(spoils=part, **more)


@_spoiling("raised RuntimeError: patched")
def json_loads_is_patched(http: HttpResponse, call: Call) -> Any:
    json.loads = _broken
    return answer()


@harmless_but_lasting
def json_dumps_is_patched(http: HttpResponse, call: Call) -> Any:
    json.dumps = _broken
    return answer()


@harmless_but_lasting
def json_dumps_writes_something_else(http: HttpResponse, call: Call) -> Any:
    json.dumps = lambda *_, **__: "{}"
    return answer()


@_spoiling("raised AttributeError")
def json_loses_its_functions(http: HttpResponse, call: Call) -> Any:
    json.__dict__.clear()
    return answer()


@harmless_but_lasting
def modules_are_forgotten(http: HttpResponse, call: Call) -> Any:
    for name in ("json", "asyncio", "logging", "llm_conformance"):
        sys.modules.pop(name, None)
    return answer()


@harmless_but_lasting
def the_import_path_is_emptied(http: HttpResponse, call: Call) -> Any:
    sys.path.clear()
    return answer()


@harmless_but_lasting
def imports_are_refused(http: HttpResponse, call: Call) -> Any:
    builtins.__import__ = _broken
    importlib.import_module = _broken
    return answer()


@harmless_but_lasting
def print_is_patched(http: HttpResponse, call: Call) -> Any:
    builtins.print = _broken
    return answer()


@harmless_but_lasting
def open_is_patched(http: HttpResponse, call: Call) -> Any:
    builtins.open = _broken
    return answer()


@harmless_but_lasting
def time_stands_still(http: HttpResponse, call: Call) -> Any:
    time.time = time.monotonic = time.perf_counter = lambda: 0.0
    return answer()


@harmless_but_lasting
def sleep_is_patched(http: HttpResponse, call: Call) -> Any:
    time.sleep = _broken
    return answer()


@harmless_but_lasting
def sockets_are_patched(http: HttpResponse, call: Call) -> Any:
    socket.socket = _broken  # type: ignore[misc, assignment]
    return answer()


@harmless_but_lasting
def logging_is_disabled(http: HttpResponse, call: Call) -> Any:
    logging.disable(logging.CRITICAL)
    return answer()


@harmless_but_lasting
def logging_is_configured_by_force(http: HttpResponse, call: Call) -> Any:
    logging.basicConfig(force=True, level=logging.DEBUG, stream=io.StringIO())
    return answer()


@harmless_but_lasting
def a_handler_of_logs_that_raises(http: HttpResponse, call: Call) -> Any:
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("no log")

    logging.getLogger().addHandler(Handler())
    return answer()


@right
def a_record_of_logs_that_cannot_be_formatted(http: HttpResponse, call: Call) -> Any:
    logging.getLogger("own").debug("%d", "no number")
    return answer()


@breaks("ERR-4")
def the_key_in_the_log(http: HttpResponse, call: Call) -> Any:
    logging.getLogger("own").debug("key: %s", call.api_key)
    return answer()


@harmless_but_lasting
def the_root_logger_loses_its_handlers(http: HttpResponse, call: Call) -> Any:
    logging.getLogger().handlers.clear()
    return answer()


@harmless_but_lasting
def all_warnings_are_errors(http: HttpResponse, call: Call) -> Any:
    warnings.simplefilter("error")
    return answer()


@harmless_but_lasting
def warnings_cannot_be_shown(http: HttpResponse, call: Call) -> Any:
    warnings.showwarning = _broken
    return answer()


@right
def garbage_is_not_collected(http: HttpResponse, call: Call) -> Any:
    gc.disable()
    gc.freeze()
    return answer()


@harmless_but_lasting
def a_callback_of_the_garbage_collector_that_raises(http: HttpResponse, call: Call) -> Any:
    gc.callbacks.append(_broken)
    gc.collect()
    return answer()


@harmless_but_lasting
def a_recursion_limit_that_is_very_high(http: HttpResponse, call: Call) -> Any:
    sys.setrecursionlimit(10**6)
    return answer()


@fault("raised RecursionError", spoils="raised RecursionError")
def a_recursion_limit_that_is_very_low(http: HttpResponse, call: Call) -> Any:
    depth = 0
    frame = sys._getframe()
    while frame.f_back:
        depth, frame = depth + 1, frame.f_back
    given = answer()
    sys.setrecursionlimit(depth + 8)
    return given


@right
def digits_of_numbers_are_limited(http: HttpResponse, call: Call) -> Any:
    sys.set_int_max_str_digits(640)
    return answer()


@right
def another_locale(http: HttpResponse, call: Call) -> Any:
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "C")
    return answer()


@right
def another_directory(http: HttpResponse, call: Call) -> Any:
    os.chdir("/")
    return answer()


@harmless_but_lasting
def a_directory_that_is_deleted(http: HttpResponse, call: Call) -> Any:
    os.chdir(directory := tempfile.mkdtemp())
    os.rmdir(directory)
    return answer()


@harmless_but_lasting
def an_empty_environment(http: HttpResponse, call: Call) -> Any:
    os.environ.clear()
    return answer()


@harmless_but_lasting
def an_environment_that_is_no_mapping(http: HttpResponse, call: Call) -> Any:
    os.environ["PYTHONPATH"] = "/nowhere"
    os.environ["LC_ALL"] = "nowhere"
    return answer()


@fault("instead of an answer")
def an_environment_that_is_replaced(http: HttpResponse, call: Call) -> Any:
    os.environ = None  # type: ignore[assignment]  # noqa: B003
    return answer()


@harmless_but_lasting
def signal_handlers_of_its_own(http: HttpResponse, call: Call) -> Any:
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGALRM):
        signal.signal(each, lambda *_: None)
    return answer()


@right
def an_alarm_that_is_left_on(http: HttpResponse, call: Call) -> Any:
    signal.alarm(3600)
    return answer()


@right
def a_file_mask_that_forbids_everything(http: HttpResponse, call: Call) -> Any:
    os.umask(0o777)
    return answer()


@harmless_but_lasting
def the_least_priority(http: HttpResponse, call: Call) -> Any:
    os.nice(19)
    return answer()


@harmless_but_lasting
def a_tracer(http: HttpResponse, call: Call) -> Any:
    sys.settrace(lambda *_: None)
    return answer()


@right
def a_hook_of_unraisable_exceptions_that_raises(http: HttpResponse, call: Call) -> Any:
    sys.unraisablehook = _broken
    return answer()


@right
def an_audit_hook_that_only_looks(http: HttpResponse, call: Call) -> Any:
    sys.addaudithook(lambda *_: None)
    return answer()


@right
def a_random_seed(http: HttpResponse, call: Call) -> Any:
    random.seed(0)
    return answer()


@right
def a_class_of_typing_is_patched(http: HttpResponse, call: Call) -> Any:
    typing.Mapping = None  # type: ignore[misc, assignment]
    return answer()


@breaks("SHP-1", renews=True, spoils="")
def a_memory_that_is_overwritten(http: HttpResponse, call: Call) -> Any:
    text = "Eight.".upper()
    ctypes.memset(id(text) + sys.getsizeof("") - 1, ord("X"), len(text))
    return answer(message=None)


@breaks("PRV-3")
def its_own_request_is_changed(http: HttpResponse, call: Call) -> Any:
    call.request["model"] = "other"  # type: ignore[index]
    return answer()


@breaks("PRV-3")
def its_own_messages_are_changed(http: HttpResponse, call: Call) -> Any:
    call.messages[0]["content"] = "other"
    return answer()


@breaks("PRV-3")
def its_own_messages_get_an_object_that_raises(http: HttpResponse, call: Call) -> Any:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no comparison")

        def __hash__(self) -> int:
            return 0

    call.messages[0]["content"] = Odd()
    return answer()


@breaks("PRV-3")
def its_own_call_is_frozen_and_changed_all_the_same(http: HttpResponse, call: Call) -> Any:
    object.__setattr__(call, "model", "other")
    return answer()


@breaks("PRV-3")
def its_own_call_loses_its_messages(http: HttpResponse, call: Call) -> Any:
    object.__setattr__(call, "messages", None)
    return answer()


@breaks("PRV-3")
def its_own_headers_are_no_mapping(http: HttpResponse, call: Call) -> Any:
    object.__setattr__(http, "headers", 7)
    return answer()


@right
def frames_of_the_suite_are_read(http: HttpResponse, call: Call) -> Any:
    frame: Any = sys._getframe()
    while frame:
        frame.f_locals.copy()
        frame = frame.f_back
    return answer()
