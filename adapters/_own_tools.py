"""Tools of the Responses API that OpenAI defines and the client runs: shells, patches, a computer, a search for tools.

Instead of a name and arguments, their calls have an object that says what to do:
https://developers.openai.com/api/docs/guides/tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Item = Mapping[str, Any]

_WHAT_TO_DO = {
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
    "tool_search_call": "arguments",
}


def is_call(item: Item) -> bool:
    """Return True for a call that the client has to run. A shell may also run in a container of the provider."""
    kind = item["type"]
    if kind == "shell_call":
        return (item.get("environment") or {}).get("type") != "container_reference"
    if kind == "tool_search_call":
        return bool(item.get("execution") == "client")
    return kind in _WHAT_TO_DO


def name(item: Item) -> str:
    """Return the name of the tool. It is the type of the tool in requests."""
    kind: str = item["type"]
    return kind.removesuffix("_call")


def arguments(item: Item) -> str:
    """Return, as JSON text, the object that says what to do. A computer may get several actions at once."""
    what = item.get(_WHAT_TO_DO[item["type"]])
    return json.dumps({"actions": item["actions"]} if what is None and "actions" in item else what, ensure_ascii=False)


def result(kind: str, call_id: str, output: str) -> Item:
    """Return the item with the result of a call, from the text of a tool message."""
    own: Item = {"type": f"{kind}_output", "call_id": call_id}
    match kind:
        case "shell_call":
            ended = {"type": "exit", "exit_code": 0}
            return {**own, "output": [{"stdout": output, "stderr": "", "outcome": ended}]}
        case "apply_patch_call":
            return {**own, "status": "completed", "output": output}
        case "computer_call":
            return {**own, "output": {"type": "computer_screenshot", "image_url": output}}
        case "tool_search_call":
            tools = json.loads(output)
            return {"type": "tool_search_output", "call_id": call_id, "execution": "client", "tools": tools}
    return {**own, "output": output}
