"""Requests of the wire format `cohere`: what they say, turn by turn, and how a conversation is written as one."""

from __future__ import annotations

from llm_conformance.formats.chat.requests import read, write

__all__ = ["read", "write"]
