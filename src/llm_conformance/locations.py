"""Where the suite's data is: in the package of a wheel, or at the root of the repository in a clone."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

PACKAGED = (PACKAGE / "conformance").is_dir()
"""Whether the suite was installed from a wheel, which has its own copy of all data."""

ROOT = PACKAGE if PACKAGED else PACKAGE.parent.parent
RULES = ROOT / "conformance"
CASSETTES = ROOT / "cassettes"
SCHEMAS = ROOT / "schemas"
LIBRARIES = ROOT / "peers"
FORMATS = PACKAGE / "formats"
PROVIDERS = PACKAGE / "wire" / "providers"

RULES_PACKAGE = "llm_conformance.conformance" if PACKAGED else "conformance"
REFERENCE_ADAPTERS = "llm_conformance.adapters" if PACKAGED else "adapters"

STARTED_AS = "LLM_CONFORMANCE_STARTED_AS"
"""The environment variable with the user's command, if `llm-conformance run` started the suite."""

_IN_THE_CLONE = not PACKAGED and Path("conformance").resolve() == RULES

COMMAND = os.environ.get(STARTED_AS) or ("pytest conformance" if _IN_THE_CLONE else "pytest --pyargs llm_conformance")
"""The command that starts the suite in the working directory, as messages and reports show it."""


def is_library_file(path: Path) -> bool:
    """Return True if a file belongs to a library's folder of an installed suite. Its user cannot change such a file."""
    return PACKAGED and path.is_relative_to(LIBRARIES)
