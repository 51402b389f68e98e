"""Compare the scenarios with the types of the providers' own SDKs. Each SDK has an environment of its own.

`sdks.toml` names the types for each API. `explained.toml` lists the known differences and their reasons. The modules
`probe`, `type_hints`, `shapes` and `difference` run inside an SDK's environment, so they import only the standard
library and this SDK.
"""
