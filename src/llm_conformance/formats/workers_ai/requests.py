"""Requests of the wire format `workers_ai`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from llm_conformance.formats.chat.requests import read, write

__all__ = ["read", "write"]
