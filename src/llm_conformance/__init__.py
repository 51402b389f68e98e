"""llm-conformance: a fixture-based conformance test suite for LLM response adapters.

An adapter turns a provider's HTTP answer into a normalised response. This package replays answers of providers through
an adapter, recorded ones and others that are written to recordings, SDKs and documentation, and judges what comes back
by named rules:

    pytest --pyargs llm_conformance --adapter=mypkg

The types of the contract are in `llm_conformance.contract`; nothing here has to be imported by an adapter.
"""

from __future__ import annotations

__version__ = "0.1.0"
