"""Call adapters in this process: for debuggers, and for adapters that are given as objects.

Such an adapter can block the interpreter (an endless regular expression), end the process, or reach the network through
native code. Only a process of its own prevents that.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from llm_conformance.calling.attempt import Attempt
from llm_conformance.calling.network_guard import Guard
from llm_conformance.calling.result import CallResult, MethodCall, OnEvent
from llm_conformance.calling.worker import HungError, Worker


class InProcess:
    """Calls methods on a worker thread, and watches them.

    Args:
        ports: The loopback ports to which connections are allowed.

    Attributes:
        hung_threads: The identifiers of threads whose calls did not return in time. These calls may still run.
    """

    def __init__(self, ports: Collection[int]) -> None:
        self._worker = Worker()
        self._guard = Guard(ports)
        self.hung_threads: list[int] = []

    @property
    def starved_s(self) -> float:
        """How many seconds of the last call passed while the machine did not run this process."""
        return self._worker.starved_s

    def call(self, instance: Any, asked: MethodCall, within_s: float, on_event: OnEvent) -> CallResult:
        """Call a method of an adapter. Give the call up after `within_s` seconds."""
        attempt = Attempt(instance, asked, on_event)
        hung: list[HungError] = []

        def run() -> None:
            try:
                self._worker.run(attempt.run, within_s)
            except HungError as error:
                hung.append(error)

        side_effects = attempt.watched(self._guard, run)
        if not hung:
            return attempt.result(side_effects)
        self.hung_threads.append(hung[0].thread)
        self._guard.ignore_thread(hung[0].thread)
        return attempt.result(side_effects, fault=str(hung[0]))

    def close(self) -> None:
        """Stop the worker thread."""
        self._worker.close()
