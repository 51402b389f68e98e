"""Recordings of other projects, in the source packages that these publish in the registry.

None of their bytes is in this repository: `cassettes/public.toml` says which archives have recordings, with digests.
"""
