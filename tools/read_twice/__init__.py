"""Let the providers' own SDKs read recordings a second time, and compare what they read with the expected values.

`sdks.toml` says which SDK reads which APIs. `explained.toml` lists the known differences and their reasons. The modules
`probe`, `loopback` and `readers` run inside an SDK's environment. They import only the standard library and this SDK,
so the second reading shares no code with the first one.
"""
