"""Families of models that write their reasoning between think tags on every host.

The model writes the tags, whatever the host is. A host that parses them sends the reasoning in a field of its own; tags
in such an answer are not parsed again. Other hosts send the tags in the text.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping

_VLLM = "https://docs.vllm.ai/en/stable/features/reasoning_outputs/"

FAMILIES: Mapping[str, str] = {
    "*deepseek-r1*": _VLLM,
    "*deepseek-v3.[12]*": _VLLM,
    "*ernie-4.5*thinking*": _VLLM,
    "*glm-4.[5-9]*": _VLLM,
    "*glm-5*": "https://huggingface.co/zai-org/GLM-5",
    "*hunyuan-a13b*": _VLLM,
    "*kimi-k2-thinking*": "https://huggingface.co/moonshotai/Kimi-K2-Thinking",
    "*minimax-m[1-9]*": "https://huggingface.co/MiniMaxAI/MiniMax-M2: keep the think tags in the history",
    "*nemotron*": "https://huggingface.co/nvidia/NVIDIA-Nemotron-Nano-9B-v2",
    "*phi-4*reasoning*": "https://huggingface.co/microsoft/Phi-4-reasoning",
    "*qwen3*": _VLLM,
    "*qwq*": _VLLM,
    "*smollm3*": "https://huggingface.co/HuggingFaceTB/SmolLM3-3B",
}
"""Maps lower-case globs of model names to the page that documents the tags."""


def thinks_between_tags(model: str) -> bool:
    """Return True if a model of this name belongs to a family that writes think tags."""
    return any(fnmatch.fnmatchcase(model.lower(), glob) for glob in FAMILIES)
