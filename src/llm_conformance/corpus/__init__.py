"""The public corpus: recordings of other projects, in their source packages in the registry.

None of their bytes are in this repository. `cassettes/public.toml` lists the archives and their digests.
"""
