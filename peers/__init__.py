"""Published libraries that the suite judges: each has a folder with a shim, the pinned release and known deviations.

A shim maps the library's public results to the contract. It claims the library's capabilities and repairs nothing. The
libraries cannot share an environment, so each has its own. Of this folder, the wheel has the shims, the judged releases
and the known deviations.

A deviation is listed only if an issue, a pull request, a page or a line of code shows it. Every other failure still has
to be judged: it may be a fault of the library, of the shim or of the suite.
"""
