"""The adapter under test, and what it declares about itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_conformance.calling.program import Program, ProgramAdapter
from llm_conformance.contract import ERROR_TYPES
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wording import MISSPELT, closest, did_you_mean, listed, printable

Method = Literal["complete", "stream", "parse", "parse_stream"]
METHODS: Mapping[Mode, tuple[Method, ...]] = {"json": ("complete", "parse"), "stream": ("stream", "parse_stream")}
"""The methods for each mode. The first sends the request itself; the second receives the response."""

Isolation = Literal["namespace", "process", "none"]
"""Where an adapter runs: in a process with a network of its own, in a process of its own, or in this process."""

CAPABILITIES = (
    *("streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors"),
    *("lost_connections", "unreadable_bodies", "incomplete_streams"),
    *("provenance", "raw_finish", "usage_details", "error_details", "raw"),
)


_ERRORS_KEY = re.compile(r"[^\W\d]\w*(?: [45]\d\d)?")


class BadAdapterError(Exception):
    """A SPEC does not name a usable adapter; the message says what was tried and what to do."""


@dataclass(frozen=True, eq=False)
class AdapterUnderTest:
    """An adapter and its declarations.

    Attributes:
        spec: The SPEC of the command line.
        name: The name that the adapter declares, or else its SPEC.
        label: The name, made unique within the run.
        instance: The object whose methods are called.
        version: The version that it declares; None if it declares no version.
        providers: The providers (`deepseek`) and APIs (`openai:chat`) that it supports.
        capabilities: Its capabilities. It has to keep the rules about them.
        methods: The methods that it has.
        errors: Maps class names of its exceptions to class names of the contract. A key may also have an HTTP status
            (`MyError 429`).
        excluded_inputs: Maps the ways of generated inputs that it does not support to the reasons
            (`llm_conformance.adapter.exclusions`).
    """

    spec: str
    name: str
    label: str
    instance: Any
    version: str | None
    providers: frozenset[str]
    capabilities: frozenset[str]
    methods: frozenset[Method]
    errors: Mapping[str, str] = field(default_factory=dict)
    excluded_inputs: Mapping[str, str] = field(default_factory=dict)

    def close(self) -> None:
        """Stop the adapter's program, if it has one."""
        if self.program is not None:
            self.program.close()

    @property
    def isolation(self) -> Isolation:
        """Where the adapter runs."""
        if self.program is None:
            return "none"
        return "namespace" if self.program.has_network else "process"

    @property
    def program(self) -> Program | None:
        """The program that calls the adapter; None if it is an object of this process."""
        return self.instance.program if isinstance(self.instance, ProgramAdapter) else None

    def covers(self, api: Api) -> bool:
        """Return True if the adapter supports an API, or all APIs of its provider."""
        return not self.providers.isdisjoint({api.provider, f"{api.provider}:{api.name}"})

    def methods_for(self, mode: Mode) -> tuple[Method, ...]:
        """Return the adapter's methods for a mode."""
        return tuple(method for method in METHODS[mode] if method in self.methods)


def without_methods(adapter: AdapterUnderTest) -> Mapping[str, tuple[Method, ...]]:
    """Map each declared capability that no method of the adapter can show to the methods that could show it."""
    return _without_methods(adapter.capabilities, adapter.methods)


def _without_methods(declared: Collection[str], methods: Collection[Method]) -> Mapping[str, tuple[Method, ...]]:
    return {
        capability: shown_by
        for capability, shown_by in _SHOWN_BY.items()
        if capability in declared and set(shown_by).isdisjoint(methods)
    }


def describe(spec: str, instance: Any, taken: Collection[str] = ()) -> AdapterUnderTest:
    """Read an adapter's declarations. `taken` are the labels of the run's other adapters.

    Raises BadAdapterError with all problems of the declarations. The ways in `excluded_inputs` are
    checked by `exclusions.problems`.
    """
    problems: list[str] = []
    all_methods = [method for methods in METHODS.values() for method in methods]
    if isinstance(instance, ProgramAdapter):
        methods = frozenset(method for method in all_methods if method in instance.methods)
    else:
        methods = frozenset(method for method in all_methods if callable(getattr(instance, method, None)))
        problems.extend(_wrong_parameters(instance, methods))
    if not methods:
        public = [name for name in dir(instance) if not name.startswith("_")]
        near = (name for name in public if closest(name, all_methods, cutoff=MISSPELT))
        hint = next((f" it has {name}{did_you_mean(name, all_methods)}" for name in near), "")
        problems.append(f"it has none of the methods complete, stream, parse, parse_stream{hint and f', but{hint}'}")
    providers = _names(instance, "providers", problems)
    if not providers:
        problems.append('`providers` has to list what the adapter supports; write `providers = ["openai:chat"]`')
    declared = _names(instance, "capabilities", problems) if hasattr(instance, "capabilities") else _implied(methods)
    unknown = declared - set(CAPABILITIES)
    if unknown:
        hint = next(filter(None, (did_you_mean(each, CAPABILITIES) for each in sorted(unknown))), "")
        known = ", ".join(CAPABILITIES)
        problems.append(f"unknown capabilities {', '.join(sorted(unknown))}; there are {known}{hint}")
    problems.extend(_misspelt_methods(instance, declared, methods))
    errors = getattr(instance, "errors", None) or {}
    problems.extend(_problems_of_errors(errors))
    excluded = getattr(instance, "excluded_inputs", None) or {}
    if not isinstance(excluded, Mapping):
        problems.append(f"`excluded_inputs` has to map ways of inputs to the reasons for it, not {excluded!r}")
    if problems:
        raise BadAdapterError("; ".join(problems))
    name = printable(str(getattr(instance, "name", None) or spec))
    version = getattr(instance, "version", None)
    return AdapterUnderTest(
        spec=spec,
        name=name,
        label=name if name not in taken else spec if spec not in taken else f"{spec} ({len(taken) + 1})",
        instance=instance,
        version=None if version is None else printable(str(version)),
        providers=frozenset(providers),
        capabilities=frozenset(declared),
        methods=methods,
        errors=dict(errors),
        excluded_inputs=dict(excluded),
    )


def _wrong_parameters(instance: Any, methods: Collection[Method]) -> Iterator[str]:
    """Yield the methods that cannot be called with the arguments that the suite passes by position."""
    for method in sorted(methods):
        arguments = ("call",) if method in ("complete", "stream") else ("http", "call")
        try:
            signature = inspect.signature(getattr(instance, method), follow_wrapped=False)
        except (TypeError, ValueError):  # not known, as for many types that are written in C
            continue
        try:
            signature.bind(*arguments)
        except TypeError as error:
            written = f"def {method}({', '.join(('self', *arguments))})"
            yield f"`{method}` cannot be called with {listed(arguments, 'and')}: {error}; write `{written}`"


_SHOWN_BY: Mapping[str, tuple[Method, ...]] = {
    "streaming": ("stream", "parse_stream"),
    "incomplete_streams": ("stream", "parse_stream"),
    "round_trip": ("complete", "stream"),
}
"""The methods that can show a capability. Any method can show a capability that is not listed."""


def _misspelt_methods(instance: Any, declared: Collection[str], methods: Collection[Method]) -> Iterator[str]:
    """Yield the declared capabilities that only a misspelt method could show.

    The suite would not call such a method.
    """
    known = {method for each in METHODS.values() for method in each}  # a method that is None is no slip
    public = [name for name in dir(instance) if not name.startswith("_") and name not in known]
    for capability, shown_by in _without_methods(declared, methods).items():
        for name in public:
            for method in closest(name, shown_by, cutoff=MISSPELT)[:1]:
                yield f"`capabilities` has {capability}, but the method is called {name}; did you mean {method}?"


def _names(instance: Any, attribute: str, problems: list[str]) -> set[str]:
    value = getattr(instance, attribute, ())
    if isinstance(value, str) or not isinstance(value, Collection) or not all(isinstance(item, str) for item in value):
        problems.append(f"`{attribute}` has to be a collection of strings, not {value!r}")
        return set()
    return set(value)


def _problems_of_errors(errors: Any) -> Iterator[str]:
    """Yield what is wrong with a mapping `errors`."""
    if not isinstance(errors, Mapping):
        yield f"`errors` has to map exception class names to the contract's, not {errors!r}"
        return
    for key, value in errors.items():
        if not isinstance(key, str) or not _ERRORS_KEY.fullmatch(key):
            yield (
                f"`errors` has the key {key!r}; a key is the name of a class without its module ('MyError'), or name "
                f"and HTTP status from 400 to 599 ('MyError 429'); for another status name the class alone"
            )
        if value not in ERROR_TYPES:
            hint = did_you_mean(str(value), ERROR_TYPES, cutoff=MISSPELT) or f"; there are {', '.join(ERROR_TYPES)}"
            yield f"`errors` maps {key!r} to {value!r}, which is no class of the contract{hint}"


def _implied(methods: Collection[Method]) -> set[str]:
    """Return the capabilities of an adapter that declares none: everything that its methods can show, except `raw`."""
    return set(CAPABILITIES) - {"raw", *_without_methods(CAPABILITIES, methods)}
