"""Databricks foundation models: https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect

adapter = chat_adapter(
    "databricks",
    Dialect(
        counting=Counting(cached=("cache_read_input_tokens",), cache_written=("cache_creation_input_tokens",)),
    ),
)
