"""A package index on the loopback interface, and source archives to put into it."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml

from llm_conformance.corpus.manifest import Package, Part
from llm_conformance.scenarios.bare import Recorder

ARCHIVE = "acme_tests-1.0.tar.gz"
TOP = "acme_tests-1.0"


def member(name: str, content: bytes = b"x: 1\n", **changes: Any) -> tuple[tarfile.TarInfo, bytes]:
    """Return a member of an archive; `changes` go to its header."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in changes.items():
        setattr(info, key, value)
    return info, content


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return a source archive with these members, which are written as they are."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue())


def recorded(**files: Any) -> bytes:
    """Return an archive with bare cassettes in `tests/cassettes/`, and other things that source archives have."""
    cassettes = (member(f"{TOP}/tests/cassettes/{name}.yaml", yaml.dump(each).encode()) for name, each in files.items())
    setup = member(f"{TOP}/setup.py", b"raise SystemExit('it was run')")
    link = member(f"{TOP}/README", b"", type=tarfile.SYMTYPE, linkname="docs/README.md")
    return archive(member(TOP, b"", type=tarfile.DIRTYPE), setup, link, *cassettes)


def package(content: bytes, count: int = 1, **changes: Any) -> Package:
    """Return the entry of the manifest for an archive."""
    part = Part(("tests/cassettes/*",), count, ("openai:chat",), Recorder("raw"))
    columns: dict[str, Any] = {
        "name": "acme-tests",
        "version": "1.0",
        "archive": ARCHIVE,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "MIT",
        "parts": (part,),
    }
    return Package(**columns | changes)


def manifest(*packages: Package) -> str:
    """Return a manifest in TOML."""
    entries = (
        f'[[package]]\nname = "{each.name}"\nversion = "{each.version}"\narchive = "{each.archive}"\n'
        f'size = {each.size}\nsha256 = "{each.sha256}"\nlicence = "{each.licence}"\n'
        + "".join(
            f"[[package.recordings]]\nfiles = {list(part.files)}\ncount = {part.count}\n"
            f'apis = {list(part.apis)}\nfidelity = "{part.recorder.fidelity}"\n'
            for part in each.parts
        )
        for each in packages
    )
    return "\n".join(entries)


@contextmanager
def serving(files: Mapping[str, bytes], **behaviour: Any) -> Iterator[str]:
    """Serve archives by their names, as an index does; yield the URL of the index.

    `page`: the index page of the package, if it is to be another. `cut_off`: send only so many bytes. `status`: answer
    each request for a file with this status. `user`: ask for this `name:password`, in base64.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if behaviour.get("user") and self.headers.get("Authorization") != f"Basic {behaviour['user']}":
                self._answer(401, b"", "text/plain")
            elif self.path == "/simple/acme-tests/":
                if behaviour.get("page"):
                    self._answer(200, behaviour["page"], "application/vnd.pypi.simple.v1+json")
                    return
                links = "".join(f'<a href="/files/{name}">{name}</a>' for name in files)
                self._answer(200, f"<html>{links}</html>".encode(), "text/html")
            elif self.path.startswith("/files/") and self.path[7:] in files:
                self._answer(behaviour.get("status", 200), files[self.path[7:]], "application/octet-stream")
            else:
                self._answer(404, b"", "text/html")

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: behaviour.get("cut_off")] if kind == "application/octet-stream" else body)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
