"""Hostile adapters: each function here does one thing that goes wrong in an adapter, and is named after it.

`test_hostile.py` calls each beside a healthy call of the same adapter. What is expected stands beside the function.
"""
