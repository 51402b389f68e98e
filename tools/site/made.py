"""All pages that the build makes, by their paths on the site."""

from __future__ import annotations

from collections.abc import Mapping

from peers import changes, page
from tools.site import grounds, proof, providers, requirements, rules
from tools.site.run import Run


def pages(run: Run) -> dict[str, str]:
    """Return the Markdown of all made pages."""
    field = changes.read()
    return {
        **_in("rules", rules.pages(run, field)),
        **_in("providers", providers.pages(run)),
        **_in("field", page.pages(field)),
        "grounds.md": grounds.page(),
        "requirements.md": requirements.page(run),
        "proof.md": proof.page(proof.read_scores()),
    }


def _in(folder: str, found: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}.md": text for name, text in found.items()}
