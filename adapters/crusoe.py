"""Crusoe Managed Inference: https://docs.crusoecloud.com/managed-inference/overview."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("crusoe", Dialect(reasoning=("reasoning",), finish={"abort": "error", "error": "error"}))
