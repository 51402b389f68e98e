"""The JSON report (`schemas/report.schema.json`). All other forms of a report are made from it."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
