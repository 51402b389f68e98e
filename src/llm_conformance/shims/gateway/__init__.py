"""Adapters of gateways: programs between users and providers that speak OpenAI chat.

`--adapter=gateway:FILE.toml` starts the gateway that the file describes, with the replay as its upstream. The suite
asks the gateway in OpenAI chat, and judges it by the scenarios of the upstream's API. docs/gateways.md has an example.
"""
