"""How streams are split into events. Each framing has a module that does not depend on the others.

| module | content |
|---|---|
| `framing` | the types of an event and of a framing |
| `server_sent_events` | events of lines with `data:` |
| `json_lines` | a JSON document on each line |
"""
