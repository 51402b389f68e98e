"""Make or update entries of the public corpus' manifest.

    python -m tools.public_corpus PACKAGE[==VERSION] ...
    python -m tools.public_corpus --all

Downloads the source archive: the given version, or the newest one. Writes the name, size, digest and licence of the
archive into the manifest. For each part, writes the number of files, and the APIs whose answers are in these files. The
globs, the fidelity, `without_urls` and `left_out` stay as they are in the manifest. Prints the files that look like
recordings and are in no part.

A package that is not in the manifest yet gets one part for each folder with recordings. Then look what its recorder
alters (`vcr_config`, `before_record_response`), and correct the fidelity.
"""

from __future__ import annotations

import argparse
import email
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import tomlkit
from packaging.version import Version

from llm_conformance.corpus import pip_settings, unpack
from llm_conformance.corpus.download import SUFFIX, Archive, Index
from llm_conformance.corpus.manifest import MANIFEST
from llm_conformance.scenarios import cassette, load
from llm_conformance.scenarios.cassette import BareInteraction
from llm_conformance.scenarios.checks.references import matches
from llm_conformance.wire.providers import recorded_urls
from llm_conformance.yaml_files import BadFileError

_LARGEST = 200 * 2**20
_FOLDERS = ("cassettes", "_vcr")
"""The names of folders with recordings."""
_SPDX = {"MIT License": "MIT", "Apache Software License": "Apache-2.0", "Apache License 2.0": "Apache-2.0"}


def main() -> None:
    """Update the manifest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE[==VERSION]")
    parser.add_argument("--all", action="store_true", help="all packages of the manifest")
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    options = parser.parse_args()
    document = tomlkit.parse(options.manifest.read_text("utf-8")) if options.manifest.exists() else tomlkit.document()
    if "package" not in document:
        document["package"] = tomlkit.aot()
    entries: Any = document["package"]
    names = [entry["name"] for entry in entries] if options.all else options.packages
    with Index(pip_settings.read()) as index:
        for wanted in names:
            name, _, version = wanted.partition("==")
            entry = next((each for each in entries if each["name"] == name), None)
            if entry is None:
                entry = tomlkit.table()
                entry["name"] = name
                entries.append(entry)
            _update(entry, index, version)
            options.manifest.write_text(tomlkit.dumps(document), "utf-8")


def _update(entry: Any, index: Index, version: str) -> None:
    archive = _archive(index, entry["name"], version)
    with tempfile.TemporaryDirectory() as directory:
        path, files = Path(directory) / archive.name, Path(directory) / "files"
        size, sha256 = index.save(archive, path, _LARGEST, lambda _: None)
        files.mkdir()
        unpack.unpack(path, files, lambda name: _looks_recorded(name) or _is_listed(entry, name))
        entry |= {"version": archive.version, "archive": archive.name, "size": size, "sha256": sha256}
        entry["licence"] = _licence(path)
        found = {each.relative_to(files).as_posix(): each for each in sorted(files.rglob("*")) if each.is_file()}
        if "recordings" not in entry:
            entry["recordings"] = _proposed(found)
        _count(entry, found)
    print(f"{entry['name']} {archive.version}: {sum(each['count'] for each in entry['recordings'])} recordings")


def _archive(index: Index, name: str, version: str) -> Archive:
    found = [each for each in index.archives(name) if version in ("", each.version)]
    if not found:
        sys.exit(f"{name}: no index has a source archive ({SUFFIX}) {version}")
    return max(found, key=lambda each: Version(each.version))


def _looks_recorded(name: str) -> bool:
    path = PurePosixPath(name)
    in_folder = any(part.endswith(_FOLDERS) for part in path.parts[:-1])
    return in_folder and load.CASSETTE_NAME.search(path.name) is not None


def _is_listed(entry: Mapping[str, Any], name: str) -> bool:
    return any(matches(name, each["files"]) for each in _parts(entry))


def _parts(entry: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the parts that are left out, then the others. Each file belongs to the first part that it matches."""
    yield from entry.get("left_out", ())
    yield from entry.get("recordings", ())


def _proposed(found: Mapping[str, Path]) -> Any:
    proposed = tomlkit.aot()
    for folder in sorted({str(PurePosixPath(name).parent) for name in found}):
        part = tomlkit.table()
        part |= {"files": [f"{folder}/*"], "count": 0, "apis": [], "fidelity": "raw"}
        proposed.append(part)
    return proposed


def _count(entry: Mapping[str, Any], found: Mapping[str, Path]) -> None:
    parts = list(_parts(entry))
    of_part: list[list[Path]] = [[] for _ in parts]
    unlisted = []
    for name, path in found.items():
        at = next((at for at, part in enumerate(parts) if matches(name, part["files"])), None)
        if at is None:
            unlisted.append(name)
        else:
            of_part[at].append(path)
    for part, paths in zip(parts, of_part, strict=True):
        part["count"] = len(paths)
        if "apis" in part and not part.get("without_urls"):
            part["apis"] = _apis(paths)
        if not paths:
            print(f"{entry['name']}: no file matches {part['files']}", file=sys.stderr)
    for name in unlisted:
        print(f"{entry['name']}: in no part: {name}", file=sys.stderr)


def _apis(paths: list[Path]) -> list[str]:
    """Return the APIs whose answers are in the files, the most frequent first."""
    counts: Counter[str] = Counter()
    for path in paths:
        try:
            _, recorded = cassette.load_bare(path)
        except BadFileError as bad:
            print(bad, file=sys.stderr)
            continue
        known = (
            recorded_urls.recognise(each.interaction.uri) for each in recorded if isinstance(each, BareInteraction)
        )
        counts.update(str(each.api) for each in known if each is not None)
    return [name for name, _ in counts.most_common()]


def _licence(archive: Path) -> str:
    """Return the SPDX id of the licence that a package states; "unknown" if the package states none.

    The metadata come first, then the first line of the licence file.
    """
    metadata, title = email.message_from_string(""), ""
    with tarfile.open(archive) as members:
        for each in members:
            name = each.name.partition("/")[2]
            if name == "PKG-INFO" and (file := members.extractfile(each)):
                metadata = email.message_from_bytes(file.read())
            if name in ("LICENSE", "LICENSE.md", "LICENSE.txt") and (file := members.extractfile(each)):
                title = file.read().decode("utf-8", "replace")
    classified = (each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier", ()) if "License ::" in each)
    candidates = (metadata["License-Expression"], *classified, metadata["License"], title)
    words = (str(each).strip().partition("\n")[0].strip() for each in candidates if each)
    word = next(filter(None, words), "unknown")
    return _SPDX.get(word, word)


if __name__ == "__main__":
    main()
