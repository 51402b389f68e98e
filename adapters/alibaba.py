"""Alibaba Cloud Model Studio (Qwen): https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("alibaba", Dialect(reasoning=("reasoning_content",)))
