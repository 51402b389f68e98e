"""Make the picture of the HTML report in README.md, with Chromium.

llm-conformance run --adapter=mypkg --report=mypkg.html  # the adapter of docs/start.md, saved as mypkg.py
python -m tools.picture mypkg.html docs/report.png
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SIZE = "1080,700"
_SETTINGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")


def main(arguments: Sequence[str]) -> int:
    """Render the top of the page; return 1 if there is no browser."""
    parser = argparse.ArgumentParser("python -m tools.picture", description=__doc__.partition("\n")[0])
    parser.add_argument("report", type=Path, help="the HTML report")
    parser.add_argument("picture", type=Path, help="the PNG file to write")
    options = parser.parse_args(arguments)
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        print(f"no browser is installed; tried {', '.join(_BROWSERS)}")
        return 1
    page, picture = options.report.resolve().as_uri(), options.picture.resolve()
    command = [browser, *_SETTINGS, f"--screenshot={picture}", f"--window-size={_SIZE}", page]
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode  # noqa: S603 - our own


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
