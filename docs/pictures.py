"""Draw the pictures of the documentation: `make docs`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent / "pictures"


def browser() -> str | None:
    """A Chromium, under one of its names."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """A picture of a page as a browser shows it."""
    program = browser()
    if program is None:
        sys.exit("pictures of pages need Chromium; install it (Debian: apt-get install chromium) and run again.")
    with tempfile.TemporaryDirectory() as profile:
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]
        size = [f"--window-size={width},{height}", f"--user-data-dir={profile}", f"--screenshot={picture}"]
        subprocess.run([program, *quiet, *size, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


def main() -> None:
    """All pictures."""
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "latentry", "demo", "--out", folder], check=True)
        photograph(Path(folder) / "report.html", HERE / "demo.png", 1200, 580)


if __name__ == "__main__":
    main()
