"""Writes docs/dashboard.png, the picture in the README: the dashboard in the middle of the demo."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent.parent / "docs" / "dashboard.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MIDDLE_S = 20  # after the first page: charts have begun, and the run is still going


def main() -> None:
    demo = subprocess.Popen([sys.executable, "-m", "b24migrate", "demo"], stdout=subprocess.PIPE, text=True)
    try:
        link = next(found.group() for line in demo.stdout or () if (found := re.search(r"http://\S+", line)))
        with sync_playwright() as playwright:
            path = next(place for name in BROWSERS if (place := shutil.which(name)))
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light", locale="en")
            page.goto(link)
            time.sleep(MIDDLE_S)
            page.screenshot(path=PICTURE)
            browser.close()
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.communicate()


if __name__ == "__main__":
    main()
