"""Ends of the process, each in another way: the call in progress fails by it, and the next has a new process."""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import fcntl
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import fault, harmless_but_lasting
from tests.hostile.healthy import answer, delta


@fault("the adapter's process ended with exit code 0 instead of an answer")
def an_exit_with_zero(http: HttpResponse, call: Call) -> Any:
    os._exit(0)


@fault("the adapter's process ended with exit code 7 instead of an answer")
def an_exit_with_seven(http: HttpResponse, call: Call) -> Any:
    os._exit(7)


@fault("was ended by the signal SIGSEGV")
def a_segmentation_fault(http: HttpResponse, call: Call) -> Any:
    return ctypes.string_at(0)


@fault("was ended by the signal SIGABRT")
def an_abort(http: HttpResponse, call: Call) -> Any:
    os.abort()


@fault("was ended by the signal SIGKILL")
def a_kill(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


@fault("was ended by the signal SIGTERM")
def a_termination(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGTERM)


@fault("was ended by the signal SIGALRM")
def an_alarm(http: HttpResponse, call: Call) -> Any:
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()


@fault("was ended by the signal SIGBUS")
def a_bus_error(http: HttpResponse, call: Call) -> Any:
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGBUS)


@fault("was ended by the signal SIGFPE")
def a_floating_point_error(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGFPE)


@fault("was ended by the signal SIGILL")
def an_illegal_instruction(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGILL)


@fault("was ended by the signal SIGKILL")
def a_kill_of_the_whole_group(http: HttpResponse, call: Call) -> Any:
    os.killpg(0, signal.SIGKILL)


@fault("was ended by the signal SIGXCPU")
def a_limit_of_processor_time(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGXCPU)


@fault("raised KeyboardInterrupt")
def a_signal_of_the_terminal(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()


@fault("raised MemoryError")
def a_limit_of_memory_that_is_reached(http: HttpResponse, call: Call) -> Any:
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, before[1]))
    try:
        return bytearray(1 << 31)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@fault("the adapter's process ended with exit code")
def another_program_in_its_place(http: HttpResponse, call: Call) -> Any:
    os.execvp("true", ["true"])


@fault("the program wrote a line that is not JSON")
def another_program_that_prints(http: HttpResponse, call: Call) -> Any:
    os.dup2(_answers(), 1)
    os.execvp("echo", ["echo", "hello"])


@fault("the adapter's process ended with exit code 0 instead of an answer")
def a_stack_of_c_that_overflows_is_an_exit(http: HttpResponse, call: Call) -> Any:
    libc = ctypes.CDLL(None)
    libc._exit(0)


@fault("the adapter's process ended with exit code 3 instead of an answer")
def an_exit_of_another_thread(http: HttpResponse, call: Call) -> Any:
    thread = threading.Thread(target=os._exit, args=(3,))
    thread.start()
    thread.join()
    return answer()


@fault("the adapter's process ended with exit code 4 instead of an answer")
async def an_exit_while_awaited(http: HttpResponse, call: Call) -> Any:
    os._exit(4)


@fault("the adapter's process ended with exit code 5 instead of an answer", "SHP-1")
def an_exit_in_the_midst_of_a_stream(chunks: Iterator[bytes], call: Call) -> Any:
    yield delta("Ei")
    os._exit(5)


@fault("was ended by the signal SIGSEGV")
def a_segmentation_fault_in_the_midst_of_a_stream(chunks: Iterator[bytes], call: Call) -> Any:
    yield delta("Ei")
    ctypes.string_at(0)


@fault("was ended by the signal SIGKILL")
def a_kill_while_asking(call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


@fault("the adapter's process ended with exit code 6 instead of an answer")
def an_exit_in_the_text_of_an_error(http: HttpResponse, call: Call) -> Any:
    class OwnError(Exception):
        def __str__(self) -> str:
            os._exit(6)

    raise OwnError


@fault("the adapter's process ended with exit code 8 instead of an answer")
def an_exit_while_the_answer_is_read(http: HttpResponse, call: Call) -> Any:
    class Answer:
        def to_dict(self) -> Any:
            os._exit(8)

    return Answer()


@fault("instead of an answer")
def all_descriptors_are_closed(http: HttpResponse, call: Call) -> Any:
    os.closerange(0, 1024)
    return answer()


@fault("instead of an answer")
def only_the_descriptor_of_answers_is_closed(http: HttpResponse, call: Call) -> Any:
    os.close(_answers())
    return answer()


@fault("a line that is not JSON")
def a_line_of_its_own_into_the_answers(http: HttpResponse, call: Call) -> Any:
    os.write(_answers(), b"hello\n")
    return answer()


@fault("a line that is not JSON")
def half_a_line_into_the_answers(http: HttpResponse, call: Call) -> Any:
    os.write(_answers(), b'{"response": ')
    return answer()


@harmless_but_lasting
def a_child_that_outlives_the_call(http: HttpResponse, call: Call) -> Any:
    if os.fork() == 0:
        os.closerange(0, 1024)
        signal.pause()
    return answer()


@harmless_but_lasting
def something_at_exit_that_exits_with_zero(http: HttpResponse, call: Call) -> Any:
    atexit.register(os._exit, 0)
    return answer()


@harmless_but_lasting
def something_at_exit_that_hangs(http: HttpResponse, call: Call) -> Any:
    atexit.register(signal.pause)
    return answer()


@harmless_but_lasting
def a_hook_of_exceptions_that_exits(http: HttpResponse, call: Call) -> Any:
    sys.excepthook = lambda *_: os._exit(0)
    return answer()


def _answers() -> int:
    """Return the descriptor to which the suite's program writes: the first pipe into which the process can write."""
    return next(each for each in range(3, 64) if _target(each).startswith("pipe:") and _writes(each))


def _writes(descriptor: int) -> bool:
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY


def _target(descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""
