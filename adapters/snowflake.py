"""Snowflake Cortex: https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("snowflake", Dialect())
