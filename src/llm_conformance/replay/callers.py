"""Call the adapters of a run, in this process or through their programs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.calling.in_program import InProgram
from llm_conformance.calling.place import Network
from llm_conformance.calling.program import ProgramError
from llm_conformance.calling.result import CallResult, MethodCall, OnEvent
from llm_conformance.replay.transport import Transport

if TYPE_CHECKING:
    from llm_conformance.calling.in_process import InProcess


class Callers:
    """Calls adapters, and knows which calls hang and which answers are kept.

    Args:
        transport: How recorded responses reach the adapters.

    Attributes:
        starved_s: How many seconds of the last call passed while the machine did not run the adapter.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._in_process: InProcess | None = None
        self._in_program = InProgram()
        self.starved_s = 0.0

    @property
    def gave_up(self) -> bool:
        """Whether a hung call may still be running in this process."""
        return self._in_process is not None and bool(self._in_process.hung_threads)

    @property
    def outside(self) -> Counter[str]:
        """Maps a place in the code to the number of its connections that were refused outside of calls."""
        return self._in_program.outside

    def network(self, adapter: AdapterUnderTest) -> Network | None:
        """Return an adapter's own network; None if it has none."""
        try:
            return None if adapter.program is None else adapter.program.network
        except (ProgramError, OSError):
            return None  # if the program does not start, the call will show it

    def is_lost(self, returned: Any) -> bool:
        """Return True if an earlier answer was kept by a process that no longer keeps it."""
        return self._in_program.is_lost(returned)

    def call(self, adapter: AdapterUnderTest, asked: MethodCall, within_s: float, on_event: OnEvent) -> CallResult:
        """Call a method. Give the call up after `within_s` seconds."""
        if adapter.program is not None:
            result = self._in_program.call(adapter.program, asked, within_s, on_event)
            self.starved_s = self._in_program.starved_s
            return result
        if self._in_process is None:
            # Few adapters are called in this process, and this imports asyncio.
            from llm_conformance.calling.in_process import InProcess

            self._in_process = InProcess(self._transport.ports)
        result = self._in_process.call(adapter.instance, asked, within_s, on_event)
        self.starved_s = self._in_process.starved_s
        if result.hung:
            self._transport.give_up(self._in_process.hung_threads[-1])
        return result

    def close(self) -> None:
        """Stop the calls in this process. Programs belong to the adapters, so they go on."""
        if self._in_process is not None:
            self._in_process.close()
