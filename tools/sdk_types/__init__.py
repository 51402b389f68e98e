"""Hold the scenarios against the types of the providers' own SDKs, each in an environment of its own.

`sdks.toml` says which types hold which API, `explained.toml` which differences are known, and why. The modules
`probe`, `type_hints`, `shapes` and `difference` run inside an SDK's environment, so they import nothing but the
standard library and that SDK.
"""
