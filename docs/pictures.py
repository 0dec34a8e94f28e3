"""The first screen of the demo's report, light and dark, for the README: `make pictures`.

Needs Chromium, or a browser that takes the same options, on the path.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from evenhand.cli.demo import audited_adult

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
THEMES = {"light": 1, "dark": 0}  # Chromium's numbers for the preferred color scheme
WIDTH, HEIGHT, SCALE = 1200, 1275, 1.5
SIDEBAR = 262  # is left out, so that the letters are larger


def draw(folder: Path) -> None:
    """Write the two pictures into a folder."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"The pictures need one of these on the path: {', '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "report.html"
        audited_adult().to_html(page)
        for theme, number in THEMES.items():
            shot = Path(place) / f"{theme}.png"
            command = [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={Path(place) / 'profile'}",
                f"--window-size={WIDTH},{HEIGHT}",
                f"--force-device-scale-factor={SCALE}",
                f"--blink-settings=preferredColorScheme={number}",
                f"--screenshot={shot}",
                page.as_uri(),
            ]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            box = tuple(round(SCALE * side) for side in (SIDEBAR, 0, WIDTH, HEIGHT))
            picture = Image.open(shot).convert("RGB").crop(box)
            picture.save(folder / f"report-{theme}.webp", quality=60)


if __name__ == "__main__":
    draw(Path(__file__).parent / "static")
