"""Alibaba Cloud Model Studio (Qwen): https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter(
    "alibaba", Dialect(reasoning=("reasoning_content",), error_codes={"data_inspection_failed": 400})
)
