"""A blank think block is drawn only for a model and a request that a source names."""

from __future__ import annotations

import re

import pytest

from llm_conformance.generate.models import models, models_with_blank_blocks
from llm_conformance.generate.think import BLANK, BLOCK
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.narrowing import backends
from llm_conformance.wire.providers.table import table
from tests.draws import drawn

SENDS_THEM = [
    pytest.param(narrowed, id=f"{api} {name}".strip())
    for api in table().values()
    for name, narrowed in (backends(api) or {"": api}).items()
    if BLANK in narrowed.varies.get(BLOCK.name, {}) and models(narrowed, "leading")
]


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("api", SENDS_THEM)
def test_a_blank_block_comes_from_a_model_and_a_request_that_may_have_it(api: Api) -> None:
    blank: list[Scenario] = []
    others: set[str] = set()

    for scenario in drawn("think-blocks", api, "json", 300):
        body = scenario.interactions["json"].body.decode()
        text = body.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\n", " ")
        if scenario.think_profile == "leading" and re.search(r'"\s*<think>\s*</think>', text):
            blank.append(scenario)
        else:
            others.add(scenario.model)
    assert {each.model for each in blank} == set(models_with_blank_blocks(api, "leading"))
    for scenario in blank:
        (message,) = scenario.messages
        assert message["content"] == f"(generated) {api.blank_blocks[scenario.model]}".rstrip()
        assert str(message["content"]) in str(scenario.interactions["json"].request)
    assert not any(api.blank_blocks.get(model) for model in others)
