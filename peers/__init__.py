"""The field's own libraries, judged: a folder each, with a shim, the release that is judged, and its known deviations.

A shim maps what a library gives its users through its public interface, claims what the library claims, and adds or
repairs nothing. No part of the wheel: each library has an environment of its own, as they cannot share one.
"""
