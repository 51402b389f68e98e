"""`python -m llm_conformance` is the command `llm-conformance`."""

from __future__ import annotations

import sys

from llm_conformance.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
