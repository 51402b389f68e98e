"""Crusoe Managed Inference: https://docs.crusoecloud.com/managed-inference/overview."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter("crusoe", Dialect(reasoning=("reasoning",), finish={"abort": "error", "error": "error"}))
