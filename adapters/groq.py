"""Groq chat: https://console.groq.com/docs/api-reference#chat.

In a stream, `x_groq` holds the usage, or the error that stopped it early. `executed_tools` lists the calls of
Compound's own tools.
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter("groq", Dialect(reasoning=("reasoning",), extension="x_groq", hosted_calls="executed_tools"))
