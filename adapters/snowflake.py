"""Snowflake Cortex: https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter("snowflake", Dialect())
