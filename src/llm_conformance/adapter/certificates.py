"""Cheap certificates: an HTTP client is made ready for TLS in well under a millisecond instead of twenty.

Making a client mostly means reading some 150 certificate authorities. While an adapter is asked, nothing ever speaks
TLS: the replay is plain HTTP or in the process itself, and the guard refuses the rest. So clients are shown a file with
one authority, which has never signed anything and whose key nobody has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILE = str(Path(__file__).with_name("nobody.pem"))
_VARIABLE = "SSL_CERT_FILE"


@contextmanager
def cheap_certificates() -> Iterator[None]:
    """Point HTTP clients made in the block to the one certificate; afterwards the environment is as it was."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = _FILE
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_VARIABLE, None)  # the adapter may have taken it away
        else:
            os.environ[_VARIABLE] = before
