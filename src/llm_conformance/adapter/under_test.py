"""The adapter under test: finding what a SPEC names, and reading what it declares.

| SPEC | meaning |
|---|---|
| `mypkg`, `mypkg.module` | its attribute `conformance_adapter`: an instance, a class, or a function of no arguments |
| `mypkg.module:attribute` | that attribute |
| `path/to/file.py`, `path/to/file.py:attribute` | a file |
| `cmd:node adapter.mjs` | a program that speaks the line protocol (`llm_conformance.adapter.program`) |
| `adapters` | the reference adapters |

A name registered under the entry-point group `llm_conformance.adapters` wins over an import.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import sys
import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from llm_conformance.adapter.certificates import cheap_certificates
from llm_conformance.adapter.program import PREFIX, ProgramAdapter, ProgramError
from llm_conformance.locations import REFERENCE_ADAPTERS, ROOT
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

ATTRIBUTE = "conformance_adapter"
ENTRY_POINTS = "llm_conformance.adapters"

Method = Literal["complete", "stream", "parse", "parse_stream"]
METHODS: Mapping[Mode, tuple[Method, ...]] = {"json": ("complete", "parse"), "stream": ("stream", "parse_stream")}
"""The methods that can answer in a mode: one that does its own HTTP, and one that is given the bytes."""

CAPABILITIES = ("streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors", "raw")


class BadAdapterError(Exception):
    """A SPEC that names no usable adapter; the message says what was tried and what to do."""


@dataclass(frozen=True, eq=False)
class AdapterUnderTest:
    """An adapter under test and what it declares. `label` is its name, made unique within the run."""

    spec: str
    name: str
    label: str
    instance: Any
    version: str | None
    providers: frozenset[str]
    capabilities: frozenset[str]
    methods: frozenset[Method]
    errors: Mapping[str, str] = field(default_factory=dict)

    def close(self) -> None:
        """End a program that was started for it."""
        if isinstance(self.instance, ProgramAdapter):
            self.instance.close()

    def covers(self, api: Api) -> bool:
        """Whether the adapter lists this provider, alone or with its api."""
        return not self.providers.isdisjoint({api.provider, f"{api.provider}:{api.name}"})

    def methods_for(self, mode: Mode) -> tuple[Method, ...]:
        """Return the adapter's methods that answer in `mode`."""
        return tuple(method for method in METHODS[mode] if method in self.methods)


def load_all(specs: Collection[str], directory: Path) -> list[AdapterUnderTest]:
    """Return the adapters named, in order. Raises BadAdapterError with the problems of all of them."""
    adapters: list[AdapterUnderTest] = []
    problems: list[str] = []
    for spec in dict.fromkeys(specs):
        try:
            adapters.append(load(spec, directory, taken={adapter.label for adapter in adapters}))
        except BadAdapterError as error:
            problems.append(f"--adapter={spec}: {error}")
    if problems:
        raise BadAdapterError("\n".join(problems))
    return adapters


def load(spec: str, directory: Path, taken: Collection[str] = ()) -> AdapterUnderTest:
    """Return the adapter that `spec` names; paths and imports are tried from `directory`."""
    if spec.startswith(PREFIX):
        instance = _program(spec.removeprefix(PREFIX), directory)
    else:
        with cheap_certificates():
            instance = _instantiate(spec, _resolve(spec, directory))
    try:
        adapter: AdapterUnderTest = _guarded("reading its declarations", lambda: describe(spec, instance, taken))
    except BadAdapterError:
        if isinstance(instance, ProgramAdapter):
            instance.close()
        raise
    return adapter


def describe(spec: str, instance: Any, taken: Collection[str] = ()) -> AdapterUnderTest:
    """Read an adapter's declarations. Raises BadAdapterError with everything that is wrong with them."""
    problems: list[str] = []
    methods = frozenset(
        method for methods in METHODS.values() for method in methods if callable(getattr(instance, method, None))
    )
    if not methods:
        problems.append("it has none of the methods complete, stream, parse, parse_stream")
    providers = _names(instance, "providers", problems)
    if not providers:
        problems.append('`providers` has to list what it can read, such as {"openai:chat", "deepseek"}')
    declared = _names(instance, "capabilities", problems) if hasattr(instance, "capabilities") else _implied(methods)
    unknown = declared - set(CAPABILITIES)
    if unknown:
        problems.append(f"unknown capabilities {', '.join(sorted(unknown))}; there are {', '.join(CAPABILITIES)}")
    errors = getattr(instance, "errors", None) or {}
    if not isinstance(errors, Mapping):
        problems.append(f"`errors` has to map exception class names to the contract's, not {errors!r}")
    if problems:
        raise BadAdapterError("; ".join(problems))
    name = str(getattr(instance, "name", None) or spec)
    version = getattr(instance, "version", None)
    return AdapterUnderTest(
        spec=spec,
        name=name,
        label=name if name not in taken else spec if spec not in taken else f"{spec} ({len(taken) + 1})",
        instance=instance,
        version=None if version is None else str(version),
        providers=frozenset(providers),
        capabilities=frozenset(declared),
        methods=methods,
        errors=dict(errors),
    )


def _names(instance: Any, attribute: str, problems: list[str]) -> set[str]:
    value = getattr(instance, attribute, ())
    if isinstance(value, str) or not isinstance(value, Collection) or not all(isinstance(item, str) for item in value):
        problems.append(f"`{attribute}` has to be a collection of strings, not {value!r}")
        return set()
    return set(value)


def _implied(methods: Collection[Method]) -> set[str]:
    """Return what an adapter that declares nothing is held to: all that its methods could show, except raw events."""
    implied = {"reasoning", "segments", "annotations", "audio", "tools", "errors"}
    if {"stream", "parse_stream"} & set(methods):
        implied.add("streaming")
    if {"complete", "stream"} & set(methods):
        implied.add("round_trip")
    return implied


def _resolve(spec: str, directory: Path) -> Any:
    """Return the object that `spec` names, not yet called or instantiated."""
    if spec == "adapters":
        return _attribute(_reference_adapters(), ATTRIBUTE)
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINTS, name=spec):
        loaded = _guarded(f"loading the entry point {spec!r}", entry_point.load)
        return _attribute(loaded, ATTRIBUTE) if isinstance(loaded, ModuleType) else loaded
    target, _, attribute = spec.partition(":")
    module = _file(directory / target) if target.endswith(".py") else _package(target, directory)
    return _attribute(module, attribute or ATTRIBUTE)


def _reference_adapters() -> ModuleType:
    module = importlib.import_module(REFERENCE_ADAPTERS)
    if not Path(module.__file__ or "").is_relative_to(ROOT):
        raise BadAdapterError(f"`adapters` means the reference adapters, but {module.__file__} is in their way")
    return module


def _package(name: str, directory: Path) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise BadAdapterError(f"{name!r} is no package name; a file has to end in .py")
    if str(directory) not in sys.path:
        sys.path.append(str(directory))  # last, so that it shadows nothing: what `python -m` would do
    try:
        return _imported(name, f"importing {name}")
    except ModuleNotFoundError as error:
        if error.name and not f"{name}.".startswith(f"{error.name}."):
            raise BadAdapterError(f"importing {name}: it needs {error.name!r}, which is not installed here") from error
        tried = f"no entry point in group {ENTRY_POINTS!r}, no package on sys.path or in {directory}"
        raise BadAdapterError(f"cannot find {error.name!r} ({tried}); is it installed in this environment?") from error


def _file(path: Path) -> ModuleType:
    """Import a file under the name it has on its own import path, so that no module is loaded twice."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # the library that a file in a folder of tests is for may lie here
    path = path.resolve()
    if not path.is_file():
        raise BadAdapterError(f"no such file: {path}")
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        root, parts = root.parent, [root.name, *parts]
    name = ".".join(part for part in parts if part != "__init__")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        module = _imported(name, f"importing {path}")
    except ModuleNotFoundError as error:
        raise BadAdapterError(f"importing {path}: cannot find {error.name!r}") from error
    if Path(module.__file__ or "").resolve() != path:
        raise BadAdapterError(
            f"another module named {name!r} is there already, from {module.__file__}; rename the file"
        )
    return module


def _imported(name: str, doing: str) -> ModuleType:
    module: ModuleType = _guarded(doing, lambda: importlib.import_module(name))
    return module


def _attribute(module: Any, dotted: str) -> Any:
    found = module
    for name in dotted.split("."):
        if not hasattr(found, name):
            raise BadAdapterError(
                f"{module.__name__} (from {getattr(module, '__file__', '?')}) has no attribute {dotted!r}; define it, "
                f"or name another as {module.__name__}:attribute"
            )
        found = getattr(found, name)
    return found


def _program(command: str, directory: Path) -> ProgramAdapter:
    try:
        return ProgramAdapter(command, directory)
    except (ProgramError, ValueError) as error:  # ValueError: quotes that are not closed
        raise BadAdapterError(str(error)) from error


def _instantiate(spec: str, found: Any) -> Any:
    if inspect.isclass(found) or (inspect.isroutine(found) and not hasattr(found, "providers")):
        try:
            return _guarded(f"calling {getattr(found, '__qualname__', spec)}()", found)
        except ModuleNotFoundError as error:
            raise BadAdapterError(f"building the adapter: cannot find {error.name!r}") from error
    return found


def _guarded(doing: str, action: Any) -> Any:
    """Run somebody's code; what it raises becomes one line that names the place."""
    try:
        return action()
    except (ModuleNotFoundError, BadAdapterError):
        raise
    except (Exception, SystemExit) as error:
        raise BadAdapterError(f"{doing} raised {type(error).__name__}: {error}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """Return where somebody's code went wrong, "" where it is the call itself that is wrong."""
    if isinstance(error, SyntaxError):
        return ""  # its text names file and line
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "" if last.filename == __file__ else f" (at {last.filename}:{last.lineno})"
