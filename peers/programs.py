"""Start a program that shows a fault, so that an error of the program itself never looks like the fault.

Python and Node end with exit code 1 if nothing catches an exception, for example because a newer release of the library
lacks the name that the program imports. The programs use this code for the fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_PYTHON = """\
import runpy, sys, traceback
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
except Exception:
    traceback.print_exc()
    sys.exit(2)
"""
_NODE = 'process.on("uncaughtException", (error) => { console.error(error); process.exit(2); })'


def command(program: Path, *, is_node: bool) -> Sequence[str | Path]:
    """Return the command that runs a program. Its exit code is 2 after an exception that nothing catches."""
    if is_node:
        return ["node", "--import", f"data:text/javascript,{_NODE}", program]
    return ["python", "-P", "-c", _PYTHON, program]
