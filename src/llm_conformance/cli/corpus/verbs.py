"""The verbs of `llm-conformance corpus`, one function each. Each returns the exit code."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from llm_conformance.cli.command import UsageError
from llm_conformance.corpus import fetch as fetching
from llm_conformance.corpus import manifest, pip_settings, places
from llm_conformance.corpus.manifest import Package
from llm_conformance.wording import counted

NOT_DOWNLOADED = 5
"""The exit code if recordings could not be downloaded. A run that judges nothing ends with the same code."""


def show(packages: Sequence[Package]) -> int:
    """List packages."""
    for each in packages:
        here = "fetched" if places.is_fetched(each) else "not fetched"
        print(f"{each.name} {each.version}: {counted(each.count, 'recording')}, {_megabytes(each.size)}, {here}")
        print(f"    {each.licence}; {', '.join(each.providers)}")
        for left_out in each.left_out:
            print(f"    left out: {counted(left_out.count, 'file')}: {left_out.why}")
    files, size = sum(each.count for each in packages), sum(each.size for each in packages)
    print(f"{counted(len(packages), 'package')}, {counted(files, 'recording')}, {_megabytes(size)} to download")
    return 0


def fetch(packages: Sequence[Package]) -> int:
    """Fetch the packages that are not in the cache.

    Return 1 if an archive was refused or could not be stored. Otherwise, return 5 if an archive could not be
    downloaded, because nothing is known about its recordings.
    """
    try:
        from tqdm import tqdm

        from llm_conformance.corpus import download
    except ImportError:
        raise UsageError("fetching needs more libraries: pip install 'llm-conformance[corpus]'") from None
    missing = [each for each in packages if not places.is_fetched(each)]
    failed, code = 0, 0
    try:
        index = download.Index(pip_settings.read())
    except (ValueError, download.DownloadError) as error:
        raise UsageError(str(error)) from error
    total = sum(each.size for each in missing)
    with index, tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024, disable=None, leave=False) as bar:
        for number, each in enumerate(missing):
            bar.set_description(each.name)
            try:
                fetching.fetch(each, index, bar.update)
                bar.write(f"{each.name} {each.version}: {counted(each.count, 'recording')}")
            except (fetching.FetchError, download.DownloadError) as error:
                failed += 1
                is_refused = isinstance(error, fetching.FetchError | download.WrongArchiveError)
                code = 1 if is_refused or code == 1 else NOT_DOWNLOADED
                bar.write(f"{each.name} {each.version}: not fetched: {error}")
                if isinstance(error, download.UnreachableError):
                    failed += len(missing) - number - 1
                    break
    print(
        f"{counted(len(missing) - failed, 'package')} fetched, {len(packages) - len(missing)} were here, "
        f"{failed} not fetched: {places.root()}"
    )
    return code


def status() -> int:
    """Print which packages are in the cache; return 1 if one is missing."""
    packages = manifest.packages()
    here = [each for each in packages if places.is_fetched(each)]
    for each in packages:
        if each not in here:
            print(f"missing: {each.name} {each.version} ({counted(each.count, 'recording')})")
    for path in (*fetching.outdated(packages), *fetching.unfinished()):
        print(f"not used any more: {path}")
    size = fetching.size(places.root())
    print(f"{len(here)} of {counted(len(packages), 'package')} fetched, {_megabytes(size)} in {places.root()}")
    if len(here) == len(packages):
        return 0
    print("`llm-conformance corpus fetch` downloads what is missing")
    return 1


def clear(packages: Sequence[Package], everything: bool) -> int:
    """Delete packages; with `everything`, also folders that the manifest does not list, and unfinished folders."""
    folders = [places.root() / each.name for each in packages]
    if everything:
        folders += [*fetching.outdated(tuple(packages)), *fetching.unfinished()]
    size = 0
    for folder in filter(Path.is_dir, folders):
        size += fetching.size(folder)
        shutil.rmtree(folder)
    print(f"{_megabytes(size)} deleted from {places.root()}")
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
