"""`llm-conformance import`: make scenarios from VCR cassettes of other projects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from llm_conformance import secrets
from llm_conformance.cli.command import Once, Options, Parser, UsageError
from llm_conformance.recording import proposals
from llm_conformance.recording.importer import Imported, Origin, import_file
from llm_conformance.scenarios.cassette import NoRecordingsError
from llm_conformance.scenarios.recorders.files import may_have_recordings
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import command_line, did_you_mean, no_such, printable
from llm_conformance.yaml_files import BadFileError


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Read recordings (of vcrpy, VCR, go-vcr, Polly.js and browsers, also gzipped), mask what looks secret, and "
        "write a scenario with its expected values for each response that can be read. No file is overwritten."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="cassettes, or directories of cassettes")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="the directory for the scenarios")
    parser.add_argument("--provider", metavar="P:API", help="the API that was called; default: found by the URLs")
    parser.add_argument(
        "--source", action=Once, metavar="TEXT", help="where they come from: repository and commit, or a link"
    )
    parser.add_argument("--licence", action=Once, metavar="TEXT", help="the licence under which they may be used")


def run(options: Options) -> int:
    """Import the cassettes; return 1 if nothing could be imported."""
    if options.into.exists() and not options.into.is_dir():
        raise UsageError(f"--into={options.into}: this is a file; give a directory")
    api = _api(options.provider)
    if options.into.is_dir():
        proposals.recover(options.into, wait=True)
    files = list(_files(options.files))
    if not files:
        raise UsageError("found no cassette (*.yaml, *.yml, *.json, *.har, each also with .gz)")
    imported = refused = 0
    for file in files:
        origin = Origin(options.source or f"imported from {printable(file.name)}", options.licence or "")
        try:
            for each in import_file(file, options.into, origin, api):
                if isinstance(each, Imported):
                    imported += 1
                    print("\n".join([str(each.path), *(f"  note: {warning}" for warning in each.warnings)]))
                else:
                    refused += 1
                    print(printable(f"not imported: {each.name}: {each.why}"))
        except NoRecordingsError:
            refused += 1
            print(printable(f"not imported: {file}: it has no recordings"))
        except OSError as error:
            raise UsageError(f"{error.filename or options.into}: cannot be written: {error.strerror}") from error
        except BadFileError as bad:
            refused += 1
            print(*(f"not imported: {secrets.hide(str(problem))}" for problem in bad.problems), sep="\n")
    option = command_line([f"--cassettes={options.into}"])
    print(
        f"{imported} imported, {refused} not imported; check the expected values, then judge with llm-conformance run "
        f"--adapter=SPEC {option}"
    )
    return int(not imported)


def _api(name: str | None) -> Api | None:
    if name is None:
        return None
    found = [api for api in table().values() if name in (str(api), api.provider)]
    if len(found) != 1:
        if found:
            raise UsageError(f"--provider={name}: choose one of {', '.join(map(str, found))}")
        known = [each for api in table().values() for each in (str(api), api.provider)]
        problem = no_such("provider", did_you_mean(name, known), "llm-conformance list providers")
        raise UsageError(f"--provider={name}: {problem}")
    return found[0]


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*") if may_have_recordings(each))
        elif path.exists() or path.is_symlink():  # something other than a file is refused when it is read
            yield path
        else:
            raise UsageError(f"{path}: no such file")
