"""One module for each way in which an SDK is called and its objects are read.

Each has a class `Reader`, made with a base URL and the options of its entry in `sdks.toml`. `plain` and `stream` call
the SDK and return values by name, read from attributes that the SDK documents. A value that the SDK has an attribute
for and that is not there is None; a value for which it has no attribute is left out.

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
