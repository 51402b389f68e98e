"""`llm-conformance init`: write the files that a project needs to run the suite on its adapter."""

from __future__ import annotations

import importlib.util
import json
import keyword
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from llm_conformance import __version__
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.templating import render
from llm_conformance.wording import command_line


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Write the files that a project needs: an adapter for the package, to be filled in, a GitHub workflow, and an "
        "empty file of known deviations. Files that exist are kept as they are."
    )
    parser.add_argument("package", metavar="PACKAGE", help="the import name of the package to be judged")
    parser.add_argument("--directory", type=Path, default=Path(), metavar="DIR", help="default: the working directory")


def run(options: Options) -> int:
    """Write the files that do not exist yet."""
    package: str = options.package
    if not package.isidentifier() or keyword.iskeyword(package):
        raise UsageError(f"{package!r} is not the name of a Python package; give its import name")
    directory: Path = options.directory
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory")
    adapter = f"{package}_conformance.py"
    values = {"package": package, "adapter": adapter, "version": __version__}
    empty: dict[str, object] = {"kept": [], "new": [], "examples": "ci", "quoted": json.dumps}
    texts = {
        directory / adapter: render("adapter.py.txt", **values),
        directory / "conformance-deviations.toml": render("deviations.toml", **empty),
        directory / ".github/workflows/conformance.yml": render("workflow.yml", **values),
    }
    existing = [path for path in texts if path.exists()]
    if len(existing) == len(texts):
        what_to_do = "move or delete those that you want anew, or name another --directory"
        raise UsageError(f"nothing was written, as all files exist: {', '.join(map(str, existing))}; {what_to_do}")
    try:
        for path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            if path in existing:
                print(f"kept {path}, which exists")
                continue
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            print(f"wrote {path}")
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from error
    if not _can_be_imported(package, directory):
        print(f"{package} cannot be imported here; install it in this environment, or mend the import in {adapter}")
    where = "" if directory.resolve() == Path.cwd() else f" in {directory}"
    command = command_line(["llm-conformance", "smoke", f"--adapter={adapter}"])
    to_do = f"Run{where}" if directory / adapter in existing else f"Fill in {adapter}, then run{where}"
    print(f"{to_do}: {command}")
    return 0


def _can_be_imported(package: str, directory: Path) -> bool:
    """Return True if there is such a package, installed or in `directory`, the working directory of a run.

    The package is not imported, because an import may take long or fail for other reasons.
    """
    if package in sys.modules or importlib.util.find_spec(package) is not None:
        return True
    return PathFinder.find_spec(package, [str(Path.cwd()), str(directory)]) is not None
