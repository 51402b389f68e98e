"""Modules that call an SDK and read its objects, one for each way to do so.

Each module has a class `Reader`, which takes a base URL and the options of its entry in `sdks.toml`. Its methods
`plain` and `stream` call the SDK and return values by name. They read the values from attributes that the SDK
documents. If the SDK has an attribute for a value, but the answer has no such value, the value is None. If the SDK has
no attribute for a value, the value is left out.

| value | type |
|---|---|
| `id`, `model`, `finish` | text; `finish` is the provider's word |
| `created` | seconds since 1970, or RFC 3339 |
| `text`, `reasoning`, `refusal` | text |
| `calls` | list of `{id, name, arguments}`; `id` only if the SDK has one; arguments are text or an object |
| `citations` | list of `{start, end, ...}`: code points of the text or null, and fields of the wire |
| `sealed` | list of signatures, redacted and encrypted data, in base64 where the SDK gives bytes |
| `media` | list of `{data, transcript}`, in base64 |
| `usage` | tokens by canonical name; null if the answer has no counts |
"""
