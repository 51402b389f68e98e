"""Read recordings a second time, by the providers' own SDKs, and compare with the expected values.

`sdks.toml` says which SDK reads which APIs, `explained.toml` which differences are known, and why. The modules `probe`,
`loopback` and `readers` run inside an SDK's environment: they import nothing but the standard library and that SDK, so
that the second reading shares no code with the first one.
"""
