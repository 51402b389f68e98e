"""Published libraries that the suite judges: each has a folder with a shim, the pinned release and known deviations.

A shim maps the library's public results to the contract. It claims the library's capabilities and repairs nothing. The
libraries cannot share an environment, so each has its own. The wheel does not contain this folder.
"""
