"""`python -m llm_conformance` is the command `llm-conformance`."""

import sys

from llm_conformance.cli import main

if __name__ == "__main__":
    sys.exit(main())
