"""`llm-conformance import`: make scenarios of cassettes that somebody else has recorded."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.recording.importer import Imported, Origin, import_file
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.yaml_files import MAX_BYTES, BadFileError, FileProblem


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "import",
        help="make scenarios of cassettes that somebody else has recorded",
        description="Read VCR cassettes (of vcrpy, pytest-recording and others, packed or not), write over what looks "
        "like a secret, and write a scenario with its truth for each answer that can be read. Nothing is overwritten.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="cassettes, or directories of them")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="the directory for the scenarios")
    parser.add_argument("--provider", metavar="P:API", help="whose API it is (else the URLs tell)")
    parser.add_argument("--source", metavar="TEXT", help="where it comes from: repository and commit, or a link")
    parser.add_argument("--licence", default="", metavar="TEXT", help="under which licence it may be used")
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Import; return 1 if nothing could be."""
    if options.into.exists() and not options.into.is_dir():
        raise UsageError(f"--into={options.into}: this is a file; name a directory")
    provider = _provider(options.provider)
    files = list(_files(options.files))
    if not files:
        raise UsageError("no cassette (*.yaml, *.yml, *.gz) there")
    imported = refused = 0
    for file in files:
        origin = Origin(options.source or f"imported from {file.name}", options.licence)
        try:
            with _unpacked(file) as readable:
                for each in import_file(readable, options.into, origin, provider):
                    if isinstance(each, Imported):
                        imported += 1
                        print(f"{each.path}")
                        print(*(f"  note: {warning}" for warning in each.warnings), sep="\n", end="")
                        print("\n" * bool(each.warnings), end="")
                    else:
                        refused += 1
                        print(f"not imported: {each.name}: {each.why}")
        except OSError as error:
            raise UsageError(f"{error.filename or options.into}: cannot be written: {error.strerror}") from error
        except BadFileError as bad:
            refused += 1
            print(*(f"not imported: {problem}" for problem in bad.problems), sep="\n")
    print(f"{imported} imported, {refused} not; read them, then judge with --conformance-cassettes={options.into}")
    return int(not imported)


def _provider(named: str | None) -> Api | None:
    if named is None:
        return None
    found = [api for api in table().values() if str(api) == named or api.provider == named]
    if len(found) != 1:
        known = ", ".join(map(str, found or table().values()))
        raise UsageError(f"--provider={named}: say which of {known}")
    return found[0]


def _files(named: Sequence[Path]) -> Iterator[Path]:
    for path in named:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*") if each.suffix in (".yaml", ".yml", ".gz"))
        elif path.is_file():
            yield path
        else:
            raise UsageError(f"{path}: no such file")


@contextmanager
def _unpacked(file: Path) -> Iterator[Path]:
    """Give a cassette as it can be read; a packed one as a copy. Raises BadFileError for one that cannot."""
    if file.suffix != ".gz":
        yield file
        return
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / file.name.removesuffix(".gz")
        try:
            with gzip.open(file) as packed:
                copy.write_bytes(packed.read(MAX_BYTES + 1))  # one byte more, and it is refused for its size
        except (OSError, EOFError, zlib.error) as error:
            raise BadFileError(FileProblem(file, 1, f"cannot be unpacked: {error}")) from error
        yield copy
