"""The rules about servers. `WIRE` is about the bytes that a server sends, `SRV` about what it does.

The rules in packages are about one format only.
"""
