"""What an adapter prints, and what it does to the standard streams: nothing of it reaches the protocol."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import breaks, fault, harmless_but_lasting, right
from tests.hostile.healthy import answer, parse_stream


@right
def a_line(http: HttpResponse, call: Call) -> Any:
    print("hello")
    return answer()


@right
def an_answer_of_the_protocol(http: HttpResponse, call: Call) -> Any:
    print('{"response": {"message": "Seven."}}')
    return answer()


@right
def an_answer_of_the_protocol_to_the_descriptor(http: HttpResponse, call: Call) -> Any:
    os.write(1, b'{"response": {"message": "Seven."}}\n')
    return answer()


@right
def a_child_that_prints(http: HttpResponse, call: Call) -> Any:
    subprocess.run(["echo", "hello"], check=True)
    return answer()


@right
def a_child_that_reads_its_input(http: HttpResponse, call: Call) -> Any:
    subprocess.run(["cat"], check=True)
    return answer()


@fault("raised EOFError")
def a_question_to_the_user(http: HttpResponse, call: Call) -> Any:
    return input("Continue? ")


@right
def the_input_is_read(http: HttpResponse, call: Call) -> Any:
    assert sys.stdin.read() == ""
    return answer()


@harmless_but_lasting
def standard_output_is_closed(http: HttpResponse, call: Call) -> Any:
    sys.stdout.close()
    return answer()


@harmless_but_lasting
def standard_error_is_closed(http: HttpResponse, call: Call) -> Any:
    sys.stderr.close()
    return answer()


@harmless_but_lasting
def the_descriptor_of_standard_output_is_closed(http: HttpResponse, call: Call) -> Any:
    os.close(1)
    return answer()


@harmless_but_lasting
def the_descriptor_of_standard_error_is_closed(http: HttpResponse, call: Call) -> Any:
    os.close(2)
    return answer()


@harmless_but_lasting
def the_descriptor_of_standard_input_is_closed(http: HttpResponse, call: Call) -> Any:
    os.close(0)
    return answer()


@harmless_but_lasting
def standard_output_is_none(http: HttpResponse, call: Call) -> Any:
    sys.stdout = None
    return answer()


@harmless_but_lasting
def standard_output_is_a_text(http: HttpResponse, call: Call) -> Any:
    sys.stdout = sys.__stdout__ = io.StringIO()  # type: ignore[misc, assignment]
    return answer()


@harmless_but_lasting
def standard_output_raises(http: HttpResponse, call: Call) -> Any:
    class Raising(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space left")

    sys.stdout = sys.stderr = Raising()
    return answer()


@right
def bytes_that_are_no_text(http: HttpResponse, call: Call) -> Any:
    os.write(2, b"\xff\xfe\x00\x80\n")
    return answer()


@right
def half_an_emoji(http: HttpResponse, call: Call) -> Any:
    with contextlib.suppress(UnicodeEncodeError):
        print("\ud83d")
    return answer()


@right
def a_megabyte_on_standard_error(http: HttpResponse, call: Call) -> Any:
    with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stderr(nothing):
        print("x" * 1_000_000, file=sys.stderr)
    return answer()


@right
def a_warning(http: HttpResponse, call: Call) -> Any:
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    return answer()


@right
def a_line_in_the_midst_of_a_stream(chunks: Iterator[bytes], call: Call) -> Any:
    for each in parse_stream(chunks, call):
        print("event")
        yield each


@breaks("SHP-1", "PRV-2")
def standard_output_as_message(http: HttpResponse, call: Call) -> Any:
    return answer(message=sys.stdout)
