"""Where the suite's data lies: inside the package when installed from a wheel, at the repository's root in a clone."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

PACKAGED = (_PACKAGE / "conformance").is_dir()
"""Whether this is an installed wheel, which carries its own copy of everything."""

ROOT = _PACKAGE if PACKAGED else _PACKAGE.parent.parent
RULES = ROOT / "conformance"
CASSETTES = ROOT / "cassettes"
SCHEMAS = ROOT / "schemas"

RULES_PACKAGE = "llm_conformance.conformance" if PACKAGED else "conformance"
REFERENCE_ADAPTERS = "llm_conformance.adapters" if PACKAGED else "adapters"

COMMAND = "pytest --pyargs llm_conformance" if PACKAGED else "pytest conformance"
"""How a user starts the suite here; printed wherever a message tells what to run."""
