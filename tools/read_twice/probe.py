"""`python -m tools.read_twice.probe`: let an SDK read responses. It runs with the Python of the SDK's environment.

Each line of standard input is a JSON object with `reader`, `options`, `model`, `streamed`, `status`, `headers` and
`body` (base64). Each line of standard output is a JSON object, too. It is `{"values": ...}` with the values that
`readers/__init__.py` lists, or `{"raised": ...}` with `class`, `message`, `status` and `retry_after`.
"""

from __future__ import annotations

import base64
import importlib
import json
import logging
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from tools.read_twice.loopback import Loopback


def read(task: Mapping[str, Any], server: Loopback, readers: dict[str, Any]) -> dict[str, Any]:
    """Return what the SDK reads in one response. `readers` keeps the readers for the next responses."""
    key = json.dumps([task["reader"], task["options"]])
    if key not in readers:
        module = importlib.import_module(f"tools.read_twice.readers.{task['reader']}")
        readers[key] = module.Reader(server.url, task["options"])
    server.status, server.headers = task["status"], task["headers"]
    server.body = base64.b64decode(task["body"])
    try:
        return {"values": readers[key].stream(task["model"]) if task["streamed"] else readers[key].plain(task["model"])}
    except Exception as error:  # the SDK's errors are results, whatever their class
        return {"raised": raised(error)}


def raised(error: Exception) -> dict[str, Any]:
    """Return the class of an SDK's error, and the HTTP status if the error has one."""
    response = getattr(error, "response", None)
    numbers = [getattr(holder, name, None) for holder in (error, response) for name in ("status_code", "code")]
    headers = getattr(error, "headers", None) or getattr(response, "headers", None) or {}
    if isinstance(response, Mapping):  # botocore's
        about = response.get("ResponseMetadata", {})
        numbers.append(about.get("HTTPStatusCode"))
        headers = about.get("HTTPHeaders", {})
        name = response.get("Error", {}).get("Code") or type(error).__name__
    else:
        name = type(error).__name__
    status = next((number for number in numbers if isinstance(number, int)), None)
    wait = headers.get("retry-after") if hasattr(headers, "get") else None
    return {"class": name, "message": str(error)[:300], "status": status, "retry_after": wait}


def main() -> None:
    """Read the tasks, write the answers."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    out = sys.stdout
    sys.stdout = sys.stderr  # what an SDK prints is no answer
    server = Loopback()
    readers: dict[str, Any] = {}
    for line in sys.stdin:
        out.write(json.dumps(read(json.loads(line), server, readers), default=str) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
