"""`python -m peers.freeze [NAME ...] [--upgrade]`: pin every requirement of the environments of the libraries.

A library's `requirements.in` has the judged releases. `uv pip compile` makes `requirements.txt` from it. That file pins
these releases, everything that they need, and everything that the suite needs. `overrides.txt`, if there is one,
replaces requirements that cannot be met. For a Node library, npm makes `package-lock.json` from `package.json`, and uv
makes `requirements.txt` from what the suite needs. `requirements.in`, if there is one, then has the release of Node.

Without `--upgrade`, pinned versions stay. With it, the newest releases are taken, in `requirements.in` and
`package.json`, too. A Node package gets the newest release of its major version. Prints what has changed, as Markdown.
Exits with 1 if an environment cannot be resolved; its files then stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from llm_conformance.adapter.libraries import Library, libraries, unknown
from peers.environments import PYTHON, ROOT, NotInstalledError, uv

_PIN = re.compile(r"^(?P<name>[\w.-]+)(?P<extras>\[[^\]]*\])?==(?P<version>[^\s;#]+)", re.MULTILINE)
_HEADER = "# Made from requirements.in by `python -m peers.freeze`.\n"


class NotResolvedError(Exception):
    """A program that resolves requirements has failed. The message is that of the program."""


def pins(text: str) -> dict[str, str]:
    """Return the versions in a file of requirements, by the canonical names of the packages."""
    return {canonicalize_name(each["name"]): each["version"] for each in _PIN.finditer(text)}


def locked(text: str) -> dict[str, str]:
    """Return the versions in a lock file of npm by package. A package may have several versions."""
    found: dict[str, list[str]] = {}
    for place, package in json.loads(text)["packages"].items():
        if place:
            found.setdefault(place.rpartition("node_modules/")[2], []).append(package["version"])
    return {name: ", ".join(sorted({*versions})) for name, versions in found.items()}


def freeze(library: Library, upgrade: bool) -> None:
    """Write the files that pin the environment of a library. Raises NotResolvedError and NotInstalledError."""
    (_freeze_node if library.is_node else _freeze_python)(library, upgrade)


def _freeze_python(library: Library, upgrade: bool) -> None:
    wanted = library.folder / "requirements.in"
    if not wanted.is_file():  # only a Node library may have none
        _compile(library, "", upgrade)
        return
    text = wanted.read_text("utf-8")
    newest = pins(_compile(library, _PIN.sub(r"\g<name>\g<extras>", text) if upgrade else text, upgrade))
    if upgrade:
        wanted.write_text(_PIN.sub(lambda each: _with_version(each, newest), text), "utf-8")


def _compile(library: Library, given: str, upgrade: bool) -> str:
    """Write the requirements.txt of a library for the `given` requirements and the suite. Return its text."""
    frozen, overrides = library.folder / "requirements.txt", library.folder / "overrides.txt"
    with tempfile.TemporaryDirectory() as directory:
        wanted, made = Path(directory, "requirements.in"), Path(directory, "requirements.txt")
        wanted.write_text(given, "utf-8")
        if frozen.is_file() and not upgrade:
            shutil.copy(frozen, made)  # pinned versions stay if possible
        options = ["--no-header", "--no-annotate", "--quiet", "--python-platform=linux"]
        options += [f"--python-version={library.python or PYTHON}", f"--output-file={made}"]
        options += [f"--override={overrides}"] * overrides.is_file() + ["--upgrade"] * upgrade
        _run(uv(), "pip", "compile", wanted, ROOT / "pyproject.toml", *options)
        text = "".join(line for line in made.read_text("utf-8").splitlines(True) if not line.startswith("#"))
        frozen.write_text(_HEADER + text, "utf-8")
        return text


def _with_version(pin: re.Match[str], versions: Mapping[str, str]) -> str:
    (name,) = pins(pin[0])
    return f"{pin['name']}{pin['extras'] or ''}=={versions[name]}"


def _freeze_node(library: Library, upgrade: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for name in ("package.json", "package-lock.json"):
            if (library.folder / name).is_file():
                shutil.copy(library.folder / name, directory)
        newest = [f"{name}@^{version}" for name, version in library.judged.items()] if upgrade else []
        options = ("--package-lock-only", "--ignore-scripts", "--save-exact", f"--prefix={directory}")
        _run("npm", "install", *options, *newest)
        _freeze_python(library, upgrade)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(Path(directory, name), library.folder / name)


def _run(*command: str | Path) -> None:
    try:
        done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError as error:
        raise NotInstalledError(f"there is no {command[0]}") from error
    if done.returncode:
        raise NotResolvedError(done.stderr.strip())


def versions(library: Library) -> dict[str, str]:
    """Return the versions of all packages of a library's environment; nothing if it is not frozen yet."""
    found: dict[str, str] = {}
    for path in (library.folder / name for name in library.frozen):
        if not path.is_file():
            return {}
        found |= (locked if path.suffix == ".json" else pins)(path.read_text("utf-8"))
    return found


def changes(before: Mapping[str, str], after: Mapping[str, str], judged: Sequence[str]) -> Iterator[str]:
    """Yield the differences, one phrase for each package: first the judged packages, then what they need."""
    names = sorted({*before, *after}, key=lambda name: (name not in judged, name))
    for name in names:
        old, new = before.get(name), after.get(name)
        if old != new:
            shown = f"**{name}**" if name in judged else name
            yield f"{shown} {old} → {new}" if old and new else f"{shown} {new} (new)" if new else f"{shown} (gone)"


def main(arguments: Sequence[str]) -> int:
    """Freeze the environments, and print what changed. Return the exit code."""
    parser = argparse.ArgumentParser("python -m peers.freeze", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="the libraries; default: all")
    parser.add_argument("--upgrade", action="store_true", help="take the newest releases")
    options = parser.parse_args(arguments)
    known = libraries()
    if wrong := [name for name in options.names if name not in known]:
        parser.error("; ".join(map(unknown, wrong)))
    failed = False
    for name in options.names or known:
        library = known[name]
        before = versions(library)
        try:
            freeze(library, options.upgrade)
        except (NotResolvedError, NotInstalledError) as error:
            failed = True
            print(f"* {name}: **cannot be resolved**\n\n      " + "\n      ".join(str(error).split("\n")), flush=True)
            continue
        if not before:
            print(f"* {name}: frozen for the first time, {len(versions(library))} packages", flush=True)
            continue
        judged = [canonicalize_name(package.partition("[")[0]) for package in library.judged]
        differing = list(changes(before, versions(library), judged))
        print(f"* {name}: {', '.join(differing) or 'as before'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
