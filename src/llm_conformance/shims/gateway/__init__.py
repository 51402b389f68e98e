"""Gateways: programs that stand between their users and providers, asked as OpenAI chat.

`--adapter=gateway:FILE.toml` starts the gateway that the file describes, with the replay as its upstream, asks it as
OpenAI chat, and judges it by the scenarios of the upstream's API. docs/shims.md shows such a file.
"""
