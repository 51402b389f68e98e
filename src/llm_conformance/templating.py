"""Render the Jinja templates in `templates/`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape  # only a run that writes needs it

    return Environment(
        loader=PackageLoader("llm_conformance", "templates"),
        autoescape=select_autoescape(("html", "svg")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, **values: Any) -> str:
    """Return a rendered template. In HTML and SVG the values are escaped."""
    return _environment().get_template(name).render(**values)


def text_of(name: str) -> str:
    """Return the text of a file in the folder, unrendered."""
    loader = _environment().loader
    assert loader is not None  # noqa: S101 - for the type checker
    return loader.get_source(_environment(), name)[0]
