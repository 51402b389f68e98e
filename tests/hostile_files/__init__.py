"""Hostile files: what somebody could send in a pull request to stop, slow down or deceive the suite.

Each is refused with one message that names file and line, or is harmless. The bounds are in `llm_conformance.limits`.
Beside each bound there is an honest file that is nearly as large, and is taken.
"""
