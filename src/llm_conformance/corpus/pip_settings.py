"""Where the user's pip looks for packages: its environment variables and configuration files.

See https://pip.pypa.io/en/stable/topics/configuration/. pip has no interface to read its settings, and need not be
installed.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

_FILE = "pip.ini" if sys.platform == "win32" else "pip.conf"
_SECTIONS = ("global", "download")
_DEFAULT_TIMEOUT_S = 60.0
_FALSE = ("", "0", "false", "no", "off", "n", "f")


@dataclass(frozen=True)
class PipSettings:
    """The parts of pip's configuration that are about finding and downloading files.

    Attributes:
        index_url: The main index; None for the default index.
        extra_index_urls: Further indexes.
        no_index: Whether only `find_links` are used.
        find_links: Folders and pages with links to files.
        cert: A file with certificates of authorities; None for the usual certificates.
        client_cert: A file with the client's certificate and key.
        trusted_hosts: Hosts whose certificates are not checked.
        proxy: The URL of a proxy; None for the proxy in the environment.
        timeout_s: How long to wait for a server, in seconds.
    """

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    no_index: bool = False
    find_links: tuple[str, ...] = ()
    cert: str | None = None
    client_cert: str | None = None
    trusted_hosts: tuple[str, ...] = ()
    proxy: str | None = None
    timeout_s: float = _DEFAULT_TIMEOUT_S


def read() -> PipSettings:
    """Return the user's settings. Raises ValueError if a file or a value cannot be read."""
    found: dict[str, str] = {}
    for path in _files():
        found |= _in_file(path)
    found |= _in_environment()
    timeout = found.get("timeout") or found.get("default-timeout")
    try:
        timeout_s = float(timeout) if timeout else _DEFAULT_TIMEOUT_S
    except ValueError:
        raise ValueError(f"pip's timeout is {timeout!r}, which is no number") from None
    return PipSettings(
        index_url=found.get("index-url") or None,
        extra_index_urls=tuple(found.get("extra-index-url", "").split()),
        no_index=found.get("no-index", "").lower() not in _FALSE,
        find_links=tuple(found.get("find-links", "").split()),
        cert=found.get("cert") or None,
        client_cert=found.get("client-cert") or None,
        trusted_hosts=tuple(found.get("trusted-host", "").split()),
        proxy=found.get("proxy") or None,
        timeout_s=timeout_s,
    )


def _in_environment() -> Mapping[str, str]:
    prefix = "PIP_"
    return {
        name.removeprefix(prefix).lower().replace("_", "-"): value
        for name, value in os.environ.items()
        if name.startswith(prefix) and value
    }


def _files() -> Iterator[Path]:
    """Yield the configuration files in pip's order. A later file overrides an earlier one."""
    chosen = os.environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    shared = platformdirs.site_config_dir("pip", appauthor=False, multipath=True).split(os.pathsep)
    yield from (Path(folder) / _FILE for folder in shared)
    if sys.platform not in ("win32", "darwin"):
        yield Path("/etc") / _FILE
    if not chosen or not Path(chosen).exists():
        home = Path.home()
        yield home / ("pip" if sys.platform == "win32" else ".pip") / _FILE
        yield Path(platformdirs.user_config_dir("pip", appauthor=False, roaming=True)) / _FILE
    yield Path(sys.prefix) / _FILE
    if chosen:
        yield Path(chosen)


def _in_file(path: Path) -> Mapping[str, str]:
    if not path.is_file():
        return {}
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError) as error:
        raise ValueError(f"{path}: pip's configuration cannot be read: {error}") from error
    sections = (parser[name] for name in _SECTIONS if parser.has_section(name))
    return {name.replace("_", "-"): value for section in sections for name, value in section.items() if value}
