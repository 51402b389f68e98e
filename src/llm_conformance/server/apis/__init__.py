"""The wire formats of servers: how to ask in each format, and how to read its answers.

| module | content |
|---|---|
| `answer` | the content of an answer, in types that all formats share |
| `wire_api` | what rules and requests have to know about a format |
| `chat` and others | one module for each format, and beside it a TOML file with the conversations to ask |
| `known` | all formats, by name |
"""
