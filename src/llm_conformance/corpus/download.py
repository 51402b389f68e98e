"""Download source archives through the index in the configuration of the user's pip.

Only this module needs the extra `llm-conformance[corpus]`.
"""

from __future__ import annotations

import hashlib
import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import cast

import httpx2
from unearth import PackageFinder
from unearth.auth import MultiDomainBasicAuth
from unearth.fetchers import Fetcher
from unearth.fetchers.sync import PyPIClient

from llm_conformance import secrets
from llm_conformance.corpus.manifest import Package
from llm_conformance.corpus.pip_settings import PipSettings

SUFFIX = ".tar.gz"
_PIECE = 2**16


class DownloadError(Exception):
    """An archive cannot be downloaded; the message says why."""


class WrongArchiveError(DownloadError):
    """An archive differs from that in the manifest."""


class UnreachableError(DownloadError):
    """An index cannot be reached, so no other archive can be downloaded, either."""


@dataclass(frozen=True)
class Archive:
    """A source archive that an index has."""

    version: str
    name: str
    url: str


class Index:
    """The user's indexes and folders of files. It is a context manager that closes its connections."""

    def __init__(self, settings: PipSettings) -> None:
        self._indexes: tuple[str, ...] = ()
        if not settings.no_index:
            default = PackageFinder().sources[0]["url"]
            self._indexes = (settings.index_url or default, *settings.extra_index_urls)
        self._links = [each for each in settings.find_links if "://" in each or Path(each).exists()]
        self._client = PyPIClient(
            trusted_hosts=settings.trusted_hosts,
            verify=_certificates(settings),
            proxy=settings.proxy,
            timeout=settings.timeout_s,
            follow_redirects=True,
        )
        self._client.auth = MultiDomainBasicAuth(prompting=False, index_urls=self._indexes)
        self._settings = settings
        self._warnings: list[str] = []

    def __enter__(self) -> Index:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connections."""
        self._client.close()

    def download(self, package: Package, target: Path, progress: Callable[[int], object]) -> None:
        """Write the archive of a package to a new file, and check its size and digest.

        `progress` is called with the number of bytes of each piece. Raises DownloadError, and OSError if the disk is
        full.
        """
        found = next((each for each in self.archives(package.name) if each.name == package.archive), None)
        if found is None:
            raise DownloadError(f"no index has {package.archive} ({self._asked()})")
        size, sha256 = self.save(found, target, package.size, progress)
        if size < package.size:
            raise DownloadError(f"the download was cut off at {size} of {package.size} bytes; fetch it again")
        if size > package.size or sha256 != package.sha256:
            raise WrongArchiveError(
                f"{package.archive} is another file than the manifest lists: its sha256 is not {package.sha256}. "
                "The index, or a proxy before it, has changed it; nothing was unpacked"
            )

    def archives(self, name: str) -> list[Archive]:
        """Return the source archives of a package, the newest first. Raises DownloadError."""
        finder = PackageFinder(
            session=cast("Fetcher", self._client),  # unearth's client does not match its own protocol
            index_urls=self._indexes,
            find_links=self._links,
            trusted_hosts=self._settings.trusted_hosts,
            ignore_compatibility=True,
            no_binary=[name],
        )
        self._warnings = []
        # Without any source, the finder would ask the default index, although the user has turned it off.
        if not (self._indexes or self._links):
            return []
        with _as_download_error(f"the index page of {name}"), _Warnings(self._warnings):
            found = finder.find_all_packages(name, allow_yanked=True)
            return [
                Archive(each.version or "", each.link.filename, each.link.url_without_fragment)
                for each in found
                if each.link.filename.endswith(SUFFIX)
            ]

    def save(self, archive: Archive, target: Path, most: int, progress: Callable[[int], object]) -> tuple[int, str]:
        """Write an archive to a new file; return its size and its sha256.

        Stops if it is larger than `most` bytes. Raises DownloadError, and OSError if the disk is full.
        """
        digest, size = hashlib.sha256(), 0
        with (
            _as_download_error(archive.name),
            self._client.get_stream(archive.url) as response,
            target.open("xb") as file,
        ):
            response.raise_for_status()
            for piece in response.iter_raw(_PIECE):
                size += len(piece)
                if size > most:
                    break
                digest.update(piece)
                file.write(piece)
                progress(len(piece))
        return size, digest.hexdigest()

    def _asked(self) -> str:
        sources = (*self._indexes, *self._links)
        asked = ", ".join(secrets.hide(_without_user(each)) for each in sources) or "nothing: pip is set to no-index"
        return "; ".join((f"asked {asked}", *self._warnings))


@contextmanager
def _as_download_error(what: str) -> Iterator[None]:
    try:
        yield
    except httpx2.HTTPStatusError as error:
        code = error.response.status_code
        raise DownloadError(f"the server answered {code} when asked for {what}") from error
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol) as error:
        raise UnreachableError(f"the index cannot be reached ({error}); pip's index-url and proxy are used") from error
    except ValueError as error:  # an index page of unknown form, or settings that give no URL
        raise DownloadError(f"the index cannot be asked for {what}: {error}") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise DownloadError(f"the download was cut off ({error or type(error).__name__}); fetch it again") from error


def _certificates(settings: PipSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.cert)
        if settings.client_cert:
            context.load_cert_chain(settings.client_cert)
    except (OSError, ssl.SSLError) as error:
        raise DownloadError(f"pip's certificates cannot be read: {settings.cert}: {error}") from error
    return context


def _without_user(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


class _Warnings(logging.Handler):
    """Collects problems that the finder only logs, such as an index that refuses to answer."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages
        self._logger = logging.getLogger("unearth")

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        self._messages.append(secrets.hide(record.getMessage()))

    def __enter__(self) -> _Warnings:
        """Listen."""
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self._logger.removeHandler(self)
