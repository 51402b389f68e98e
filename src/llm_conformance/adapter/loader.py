"""Load the adapter that a SPEC names.

| SPEC | meaning |
|---|---|
| `mypkg`, `mypkg.module` | the attribute `conformance_adapter`: an instance, a class, or a function without arguments |
| `mypkg.module:attribute` | that attribute |
| `path/to/file.py`, `path/to/file.py:attribute` | the same for a file |
| `cmd:node adapter.mjs` | a program that speaks the line protocol (`llm_conformance.calling.program`) |
| `gateway:FILE.toml` | a gateway, called through its OpenAI chat API (`llm_conformance.shims.gateway`) |
| `adapters` | the reference adapters |
| `litellm` | a library of the field, through the shim that the suite brings (`llm_conformance.adapter.libraries`) |

A name in the entry-point group `llm_conformance.adapters` takes precedence over an importable module, and both take
precedence over a library of the field. If a module has the name of a library of the field, it counts as an adapter only
if its file contains `conformance_adapter`, because the module is usually the library itself.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Collection
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from llm_conformance.adapter import libraries
from llm_conformance.adapter.declarations import AdapterUnderTest, BadAdapterError, Isolation, describe
from llm_conformance.adapter.libraries import Library, NotHereError
from llm_conformance.calling import place
from llm_conformance.calling.certificates import cheap_certificates
from llm_conformance.calling.program import Program, ProgramAdapter, ProgramError, ReportedError
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.locations import REFERENCE_ADAPTERS, ROOT
from llm_conformance.wording import did_you_mean

ATTRIBUTE = "conformance_adapter"
ENTRY_POINTS = "llm_conformance.adapters"
PREFIX = "cmd:"
GATEWAY_PREFIX = "gateway:"
GATEWAY_DESCRIBED_WITHIN_S = 120.0
"""Seconds to wait for a gateway's description. The gateway has to start first, and some gateways start slowly."""

HOST_DESCRIBED_WITHIN_S = 120.0
"""Seconds to wait for the description of an adapter in Python. Some libraries take long to import on a busy machine."""
_IN_WSL = "leave the option out, or run the suite on Linux or macOS; on Windows, in WSL"
_HOST = (
    "import os, sys; paths, *rest = sys.argv[1:]; sys.path[:] = paths.split(os.pathsep); "
    "from llm_conformance.adapter import host; sys.exit(host.main(rest))"
)
"""The program of an adapter in Python, for `python -c`. It takes the import path of this process as its argument."""

_INSTALL = "; install it in this environment"

T = TypeVar("T")


def isolation(named: str, transport: str) -> Isolation:
    """Return where adapters run. The options `isolation` and `transport` decide this.

    Raises ValueError if the two options exclude each other, or if this system cannot isolate adapters.
    """
    if transport == "vcr":  # this transport patches the HTTP libraries of this process
        if named in ("namespace", "process"):
            raise ValueError(
                "the transport vcr replays within the process of the suite only; leave one of the two options out"
            )
        return "none"
    if not place.IS_POSSIBLE and named in ("auto", "none"):
        return "none"
    if not place.IS_POSSIBLE:
        raise ValueError(f"an adapter cannot have a process of its own on this system; {_IN_WSL}")
    return "namespace" if named == "auto" else cast("Isolation", named)


def load_all(specs: Collection[str], directory: Path, isolation: Isolation = "none") -> list[AdapterUnderTest]:
    """Return the adapters that SPECs name, in order. Raises BadAdapterError with the problems of all adapters.

    Unless `isolation` is `none`, each adapter in Python is loaded in a process of its own.
    """
    adapters: list[AdapterUnderTest] = []
    problems: list[str] = []
    for spec in dict.fromkeys(specs):
        try:
            adapters.append(load(spec, directory, {adapter.label for adapter in adapters}, isolation))
        except BadAdapterError as error:
            problems.append(f"--adapter={spec}: {error}")
    if problems:
        for adapter in adapters:
            adapter.close()
        raise BadAdapterError("\n".join(problems))
    return adapters


def load(spec: str, directory: Path, taken: Collection[str] = (), isolation: Isolation = "none") -> AdapterUnderTest:
    """Return the adapter that a SPEC names. Raises BadAdapterError.

    Args:
        spec: The SPEC.
        directory: The directory in which relative paths start. It is also the last entry of the import path.
        taken: The labels of the run's other adapters.
        isolation: Where the adapter runs.
    """
    library = library_named(spec, directory)
    instance: Any = _of_program(spec, directory, isolation)
    if library is not None:
        instance = _of_library(library, directory, isolation)
    elif instance is None and isolation != "none":
        instance = _hosted(spec, directory, isolation)
    elif instance is None:
        with cheap_certificates():
            instance = _instantiate(spec, _resolve(spec, directory))
    try:
        adapter = _guarded("reading its declarations", lambda: describe(spec, instance, taken))
        if adapter.excluded_inputs:
            from llm_conformance.adapter import exclusions  # reads the provider table; most adapters exclude nothing

            if problems := list(exclusions.problems(adapter)):
                raise BadAdapterError("; ".join(problems))
        return adapter
    except BadAdapterError:
        if isinstance(instance, ProgramAdapter):
            instance.program.close()
        raise


def library_named(name: str, directory: Path) -> Library | None:
    """Return the library of the field that a SPEC names; None if it names something else.

    A user's own adapter of the same name takes precedence.
    """
    library = libraries.libraries().get(name)
    return None if library is None or _is_adapter(name, directory) else library


def _is_adapter(name: str, directory: Path) -> bool:
    """Return True if a name is an entry point or a module with an adapter. Imports nothing."""
    if importlib.metadata.entry_points(group=ENTRY_POINTS, name=name):
        return True
    found = PathFinder.find_spec(name, [*sys.path, str(directory)])
    file = Path(found.origin) if found and found.origin else None
    return file is not None and file.suffix == ".py" and ATTRIBUTE in file.read_text("utf-8", errors="replace")


def _of_library(library: Library, directory: Path, isolation: Isolation) -> Any:
    return _of_shim(library, directory, isolation) or _hosted(library.name, directory, isolation)


def _of_shim(library: Library, directory: Path, isolation: Isolation) -> Any:
    """Return the adapter in a library's shim; None if the shim has to be loaded in a process of its own."""
    if library.shim.suffix != ".py":
        _check_programs()
    try:
        library.check(directory)
        spec = library.spec(library.shim_beside(directory) if library.is_node else library.shim)
        if (program := _of_program(spec, directory, isolation)) is not None:
            return program
        if isolation != "none":
            return None
        with cheap_certificates():
            return _instantiate(library.name, _attribute(_import_file(library.shim), ATTRIBUTE))
    except NotHereError as error:
        raise BadAdapterError(str(error)) from error
    except BadAdapterError as error:
        installed = library.installed(directory)
        if installed == library.release:
            raise
        made_for = f"the shim is made for {library.package} {library.release}, and {installed} is installed"
        raise BadAdapterError(f"{error}; {made_for}") from error


def _resolve(spec: str, directory: Path) -> Any:
    """Return the object that a SPEC names: an instance, a class or a function."""
    if spec == "adapters":
        return _attribute(_reference_adapters(), ATTRIBUTE)
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINTS, name=spec):
        loaded = _guarded(f"loading the entry point {spec!r}", entry_point.load)
        return _attribute(loaded, ATTRIBUTE) if isinstance(loaded, ModuleType) else loaded
    target, _, attribute = spec.partition(":")
    module = _import_file(directory / target) if target.endswith(".py") else _import_package(target, directory)
    return _attribute(module, attribute or ATTRIBUTE)


def _reference_adapters() -> ModuleType:
    module = importlib.import_module(REFERENCE_ADAPTERS)
    if not Path(module.__file__ or "").is_relative_to(ROOT):
        raise BadAdapterError(f"`adapters` means the reference adapters, but {module.__file__} hides them; rename it")
    return module


def _import_package(name: str, directory: Path) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        hint = did_you_mean(name, libraries.libraries())
        listed = f"; `{libraries.LIST_COMMAND}` lists the libraries that need no adapter" if hint else ""
        raise BadAdapterError(f"{name!r} is not a package name; the path of a file has to end in .py{hint}{listed}")
    if str(directory) not in sys.path:
        sys.path.append(str(directory))  # last, so that it hides nothing
    try:
        return _guarded(f"importing {name}", lambda: importlib.import_module(name))
    except ModuleNotFoundError as error:
        if error.name and not f"{name}.".startswith(f"{error.name}."):
            raise BadAdapterError(f"importing {name}: it needs {error.name!r}, which is not here{_INSTALL}") from error
        tried = f"no entry point in group {ENTRY_POINTS!r}, no package on sys.path or in {directory}, no library of "
        tried += f"`{libraries.LIST_COMMAND}`"
        hint = _similar_file(directory / f"{name}.py") or did_you_mean(name, libraries.libraries())
        hint = hint or "; is it installed in this environment?"
        raise BadAdapterError(f"cannot find {error.name!r} ({tried}){hint}") from error


def _similar_file(path: Path) -> str:
    """Return the end of a message about a missing file: a file beside it with a similar name; "" if there is none."""
    return did_you_mean(path.name, (each.name for each in sorted(path.parent.glob("*.py"))))


def _import_file(path: Path) -> ModuleType:
    """Import a file under its full module name, together with its packages, so that no module is loaded twice."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # an adapter in a folder of tests may import the library beside it
    path = path.resolve()
    if not path.is_file():
        raise BadAdapterError(f"no such file: {path}{_similar_file(path)}")
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        root, parts = root.parent, [root.name, *parts]
    name = ".".join(part for part in parts if part != "__init__")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        module = _guarded(f"importing {path}", lambda: importlib.import_module(name))
    except ModuleNotFoundError as error:
        raise BadAdapterError(f"importing {path}: cannot find {error.name!r}{_INSTALL}") from error
    if Path(module.__file__ or "").resolve() != path:
        raise BadAdapterError(
            f"another module named {name!r} is imported already, from {module.__file__}; rename the file"
        )
    return module


def _attribute(module: ModuleType, dotted: str) -> Any:
    found: Any = module
    for name in dotted.split("."):
        if not hasattr(found, name):
            raise BadAdapterError(
                f"{module.__name__} (from {getattr(module, '__file__', '?')}) has no attribute {dotted!r}; define it, "
                f"or name another as {module.__name__}:attribute{did_you_mean(name, dir(found))}"
            )
        found = getattr(found, name)
    return found


def _gateway(path: str) -> str:
    """Return the command of the program that starts a gateway and sends it the calls."""
    return shlex.join([sys.executable, "-m", "llm_conformance.shims.gateway", path, CANARY_KEY])


def _check_programs() -> None:
    """Raise BadAdapterError if this system cannot run programs and gateways."""
    if not place.IS_POSSIBLE:
        raise BadAdapterError(
            "programs, gateways and libraries for Node cannot be judged on this system; run the suite on Linux or "
            "macOS, or on Windows in WSL"
        )


def _of_program(spec: str, directory: Path, isolation: Isolation) -> ProgramAdapter | None:
    """Return the program or the gateway that a SPEC names; None if it names neither."""
    if spec.startswith((PREFIX, GATEWAY_PREFIX)):
        _check_programs()
    if spec.startswith(PREFIX):
        return _program(spec.removeprefix(PREFIX), directory, isolation)
    if spec.startswith(GATEWAY_PREFIX):
        return _program(_gateway(spec.removeprefix(GATEWAY_PREFIX)), directory, isolation, GATEWAY_DESCRIBED_WITHIN_S)
    return None


def _program(
    command: str, directory: Path, isolation: Isolation, described_within_s: float | None = None
) -> ProgramAdapter:
    try:
        words = shlex.split(command)
        if not words:
            raise BadAdapterError(f"{PREFIX} needs a command, such as {PREFIX}node adapter.mjs")
        return ProgramAdapter(Program(words, directory, isolation == "namespace"), described_within_s)
    except ReportedError as error:
        raise BadAdapterError(f"the program was asked to describe itself: {error}") from error
    except (ProgramError, ValueError) as error:  # ValueError: an unclosed quotation mark
        raise BadAdapterError(str(error)) from error


def _hosted(spec: str, directory: Path, isolation: Isolation) -> ProgramAdapter:
    """Return an adapter in Python that runs in a process of its own."""
    command = [sys.executable, "-c", _HOST, os.pathsep.join(sys.path), spec, str(directory)]
    try:
        return ProgramAdapter(Program(command, Path.cwd(), isolation == "namespace"), HOST_DESCRIBED_WITHIN_S)
    except ReportedError as error:
        raise BadAdapterError(str(error)) from error
    except ProgramError as error:
        raise BadAdapterError(f"loading it in a process of its own: {error}") from error


def _instantiate(spec: str, found: Any) -> Any:
    """Call a class or a function; return any other object unchanged."""
    if inspect.isclass(found) or (inspect.isroutine(found) and not hasattr(found, "providers")):
        try:
            return _guarded(f"calling {getattr(found, '__qualname__', spec)}()", found)
        except ModuleNotFoundError as error:
            raise BadAdapterError(f"building the adapter: cannot find {error.name!r}{_INSTALL}") from error
    return found


def _guarded(doing: str, action: Callable[[], T]) -> T:
    """Run code of the adapter. Turn any exception but ModuleNotFoundError into a BadAdapterError with the place."""
    try:
        return action()
    except (ModuleNotFoundError, BadAdapterError):
        raise
    except (Exception, SystemExit) as error:
        raise BadAdapterError(f"{doing} raised {type(error).__name__}: {error}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """Return the line of the adapter's code that raised; "" if no such line did, or if the message has the line."""
    if isinstance(error, SyntaxError):
        return ""  # the message has file and line
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "" if last.filename == __file__ else f" (at {last.filename}:{last.lineno})"
