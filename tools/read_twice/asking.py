"""Let an SDK read recordings, in the SDK's environment."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from peers.environments import ROOT, Environment
from tools.read_twice.inputs import Recording
from tools.read_twice.settings import Reads
from tools.sdk_types.comparison import ProbeError


def answers(place: Environment, reads: Reads, recordings: Sequence[Recording]) -> list[Mapping[str, Any]]:
    """Return what the SDK reads in each recording, as `probe` prints it. Raises ProbeError if the SDK does not work."""
    asked = "\n".join(_lines(reads, recordings))
    command = [str(place.folder / "bin" / "python"), "-m", "tools.read_twice.probe"]
    done = subprocess.run(command, input=asked, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise ProbeError(done.stderr.strip().rpartition("\n")[2])
    return [json.loads(line) for line in done.stdout.splitlines()]


def _lines(reads: Reads, recordings: Iterable[Recording]) -> Iterable[str]:
    for each in recordings:
        yield json.dumps(
            {
                "reader": reads.reader,
                "options": dict(reads.options),
                "model": each.model,
                "streamed": each.mode == "stream",
                "status": each.status,
                "headers": dict(each.headers),
                "body": base64.b64encode(each.body).decode("ascii"),
            }
        )
