"""Amazon Bedrock's mantle, which speaks APIs of OpenAI: https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter
from ._responses import responses_adapter

adapters = (
    chat_adapter("bedrock", Dialect(reasoning=("reasoning",))),
    responses_adapter("bedrock"),
)
