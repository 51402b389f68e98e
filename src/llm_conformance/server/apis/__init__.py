"""The wire formats that servers are judged by: how each is asked, and how its answers are read.

answer the content of an answer, in types that all formats share wire_api what rules and requests have to know about a
format chat ... one module a format, and beside it a TOML file with the conversations that a server is asked known all
of them, by name
"""
