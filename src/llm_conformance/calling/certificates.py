"""Make HTTP clients quick to create: they read certificates in less than 1 ms instead of 20 ms.

A client spends most of its start on some 150 certificate authorities. No adapter uses TLS during a run: the replay is
plain HTTP or within the process, and the network guard refuses everything else. So clients get a file with a single
authority. This authority has signed nothing, and nobody has its key.
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
    """Within the `with` block, new HTTP clients load the small file of certificates.

    Sets `SSL_CERT_FILE`, and restores it at the end of the block.
    """
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = _FILE
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_VARIABLE, None)  # the adapter may have removed it
        else:
            os.environ[_VARIABLE] = before
