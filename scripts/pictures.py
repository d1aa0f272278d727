"""Makes the pictures of the README from the bundled samples: ``python scripts/pictures.py``.

Needs Chromium and the packages of ``.[test]``. The pictures are those of the pages that ``static/`` holds.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).resolve().parents[1] / "docs"
AMP, FP32 = "resnet50/amp", "resnet50/fp32"
SIZE = {"width": 1280, "height": 800}


def picture(page: Page, name: str, top: str, bottom: str) -> None:
    """The window from its top, or from an element, to the end of another."""
    page.wait_for_function("!document.querySelector('.skeleton, [aria-busy=true]')")
    first, last = page.locator(top).first.bounding_box(), page.locator(bottom).first.bounding_box()
    if first is None or last is None:
        raise SystemExit(f"{name}: the page has changed; say anew what is pictured.")
    y = max(first["y"] - 12, 0)
    height = min(last["y"] + last["height"] + 12, SIZE["height"]) - y
    page.screenshot(path=DOCS / name, clip={"x": 0, "y": y, "width": SIZE["width"], "height": height})
    print(DOCS / name)


def main() -> None:
    """Import the samples, show them, and take the pictures."""
    command = [sys.executable, "-m", "tensorboard_plugin_dlprof"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        logs = Path(folder) / "logs"
        subprocess.run([*command, "demo", "--no-serve", "--logdir", str(logs)], check=True)
        viewer = subprocess.Popen(
            [*command[:2], "tensorboard_plugin_dlprof.viewer", "-p", "0", str(logs)], stdout=subprocess.PIPE, text=True
        )
        try:
            lines = iter(viewer.stdout or ())
            address = next(address[0] for line in lines if (address := re.search(r"http://\S+/", line)))
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
            page = browser.new_page(viewport=SIZE)
            page.goto(address)
            page.locator(".picker-button").first.wait_for()
            answer = page.request.get(f"{address}data/plugin/dlprof/profiles").json()
            ids = {profile["run"]: profile["id"] for profile in answer["profiles"]}

            def show(**state: str) -> None:
                page.goto("about:blank")
                values = "".join(f"&p.dlprof.{key}={value}" for key, value in {"profile": ids[AMP], **state}.items())
                page.goto(f"{address}#dlprof{values}")
                page.locator(".panel").first.wait_for()
                page.wait_for_timeout(2_000)

            show()
            picture(page, "dashboard.png", "body", "body")
            show(view="timeline")
            picture(page, "timeline.png", ".timeline-head", ".panel")
            show(view="compare", base=ids[FP32])
            picture(page, "compare.png", "body", ".panel:has(h2:has-text('From A to B'))")
            browser.close()
        finally:
            viewer.terminate()
            viewer.wait()


if __name__ == "__main__":
    main()
