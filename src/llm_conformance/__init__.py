"""llm-conformance: a fixture-based conformance test suite for LLM response adapters.

An adapter turns a provider's HTTP answer into a normalised response. This package replays answers of providers through
an adapter, and judges by named rules what comes back. Some answers are recorded; others are written after recordings,
SDKs and documentation. To judge an adapter, run:

    pytest --pyargs llm_conformance --adapter=mypkg

The types of the contract are in `llm_conformance.contract`. An adapter need not import anything from here.
"""

from __future__ import annotations

__version__ = "0.1.0"
