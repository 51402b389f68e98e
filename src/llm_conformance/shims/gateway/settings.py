"""The file that describes a gateway."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance.toml_files import Where, line_of, read
from llm_conformance.wording import did_you_mean
from llm_conformance.yaml_files import BadFileError, FileProblem

CAPABILITIES = ("streaming", "tools", "round_trip", "errors")


@dataclass(frozen=True)
class Upstream:
    """How to ask a gateway for one API of one provider.

    Attributes:
        model: The model to request from the gateway; `{model}` is the model of the call.
        headers: Further headers of the request.
        body: Further fields of the request's body.
        params: The call's parameters that go out under their own names, because the gateway documents these names.
        names: Maps the call's parameters to the gateway's names.
        has_hosted_tools: Whether the provider's own tools are sent in the provider's own form.
        unknown_tools: Globs of the types of the provider's own tools that the gateway does not know.
        parts: Types of content parts that are sent in the provider's own form.
    """

    model: str = "{model}"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    params: Collection[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    has_hosted_tools: bool = False
    unknown_tools: Collection[str] = ()
    parts: Collection[str] = ()


@dataclass(frozen=True)
class Settings:
    """The settings in a gateway's file.

    Attributes:
        name: The gateway's name.
        version: Its release.
        command: The command that starts it.
        folder: The folder of the file, in which the command runs.
        ready: The path of a GET request that it answers with a status below 400 after its start.
        path: The path of its chat completions.
        capabilities: The capabilities that it has in OpenAI's form.
        environment: Further environment variables.
        files: Maps the names of files to write for it to their contents; `{files}` is their folder.
        headers: Headers of each request.
        finish: Maps finish words other than OpenAI's to finish reasons, if the gateway passes on the providers' own
            words.
        reasoning: Places of the reasoning in a message or a delta: names joined by `/`, with `*` for each item of a
            list.
        apis: Maps `provider:api` to how to ask the gateway for it.
    """

    name: str
    version: str | None
    command: tuple[str, ...]
    folder: Path
    apis: Mapping[str, Upstream]
    ready: str = "/"
    path: str = "/v1/chat/completions"
    capabilities: Collection[str] = CAPABILITIES
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: Mapping[str, str] = field(default_factory=dict)
    reasoning: Sequence[str] = ("reasoning_content", "reasoning")


_NAMES = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}
_TYPES: Mapping[str, tuple[type, ...]] = {
    **{"name": (str,), "version": (str, dict), "ready": (str,), "path": (str,)},
    **{"command": (list,), "capabilities": (list,), "reasoning": (list,)},
    **{"environment": (dict,), "files": (dict,), "headers": (dict,), "apis": (dict,)},
    **{"finish": (dict,)},
}
_API_TYPES: Mapping[str, tuple[type, ...]] = {
    **{"model": (str,), "headers": (dict,), "body": (dict,), "params": (list,), "names": (dict,)},
    **{"has_hosted_tools": (bool,), "unknown_tools": (list,), "parts": (list,)},
}


def load(path: Path) -> Settings:
    """Read a gateway's file. Raises BadFileError with all of its problems."""
    said, text = read(path)
    apis = said.get("apis")
    problems: list[tuple[Where, str]] = [
        ((), f"`{key}` is missing") for key in ("name", "command", "apis") if key not in said
    ]
    problems += _problems(said, _TYPES, ())
    for api, own in (apis if isinstance(apis, dict) else {}).items():
        problems += _problems(own, _API_TYPES, ("apis", api))
    if problems:
        raise BadFileError(*(FileProblem(path, line_of(text, where), message) for where, message in problems))
    try:
        version = _version(said.pop("version", None), path.parent)
    except (LookupError, OSError, ValueError, importlib.metadata.PackageNotFoundError) as error:
        message = f"{type(error).__name__}: {error}; is the gateway installed?"
        raise BadFileError(FileProblem(path, line_of(text, ("version",)), message)) from error
    upstreams = {name: Upstream(**own) for name, own in said.pop("apis").items()}
    command = tuple(map(str, said.pop("command")))
    return Settings(**said, command=command, version=version, folder=path.resolve().parent, apis=upstreams)


def _problems(said: Any, types: Mapping[str, tuple[type, ...]], where: Where) -> list[tuple[Where, str]]:
    if not isinstance(said, dict):
        return [(where, f"`{'.'.join(map(str, where))}` has to be a table")]
    found = []
    for key, value in said.items():
        if key not in types:
            found.append(((*where, key), f"`{key}` is unknown{did_you_mean(key, types)}"))
        elif not isinstance(value, types[key]):
            kinds = " or ".join(_NAMES[each] for each in types[key])
            found.append(((*where, key), f"`{key}` has to be {kinds}"))
    return found


def _version(said: Any, folder: Path) -> str | None:
    """Return the version: the text itself, or that of a Python distribution (`distribution`) or JSON file (`json`)."""
    if not isinstance(said, dict):
        return None if said is None else str(said)
    if "distribution" in said:
        return importlib.metadata.version(said["distribution"])
    return str(json.loads((folder / said["json"]).read_text("utf-8"))["version"])
