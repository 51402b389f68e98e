"""The rules about servers. `WIRE` is about what is sent, `SRV` about what is done.

Those in packages are about one format alone.
"""
