"""The documentation as a site. `python -m tools.site` builds it; `__main__.py` says how."""
