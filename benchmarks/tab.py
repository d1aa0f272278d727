"""The tab in a real browser, used as with a mouse and a keyboard, and the tasks that hold its main thread meanwhile.

A task is what the browser's main thread does without looking at what the user does next (`RunTask` of its own trace).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from playwright.sync_api import Browser, ElementHandle, Frame, Page, sync_playwright

SIZE = {"width": 1440, "height": 900}
"""Size of the window in CSS pixels."""

_QUIET_MS = 350
"""So long nothing may change in the page before an interaction is over: more than a field waits for the next letter."""

_PATIENCE_MS = 300_000

_WATCH = f"""
(() => {{
  let asked = 0, changed = performance.now();
  const touch = () => {{ changed = performance.now(); }};
  const fetched = window.fetch;
  window.fetch = (...what) => {{ asked += 1; return fetched(...what).finally(() => {{ asked -= 1; touch(); }}); }};
  const all = {{attributes: true, characterData: true, childList: true, subtree: true}};
  new MutationObserver(touch).observe(document, all);
  window.atRest = () => new Promise((resolve) => {{
    touch();
    const look = () => asked === 0 && performance.now() - changed > {_QUIET_MS} ? resolve() : setTimeout(look, 20);
    look();
  }});
  const first = () => document.querySelector(".dashboard .panel") === null
    ? requestAnimationFrame(first)
    : requestAnimationFrame(() => {{ window.firstContent = performance.timeOrigin + performance.now(); }});
  requestAnimationFrame(first);
}})();
"""
"""Script that runs first in every frame; reports when the page is at rest, and when the Dashboard first appeared."""

_CATEGORIES = ["disabled-by-default-devtools.timeline", "blink.user_timing"]

_FIND = """
([selector, text, nth]) => [...document.querySelectorAll(selector)].filter(
  (element) => element.checkVisibility() && element.textContent.includes(text) && !element.disabled).at(nth) ?? null
"""


@dataclass(frozen=True, slots=True)
class Held:
    """The longest task of an interaction, in milliseconds."""

    clock_ms: float
    processor_ms: float
    """The one that took the most of the processor: what other programs take from it does not count."""


class Tab:
    """The plugin's tab in TensorBoard, as a user operates it."""

    def __init__(self, browser: Browser, page: Page) -> None:
        self.page = page
        self._browser = browser
        self._begun = ""

    @property
    def frame(self) -> Frame:
        """The frame that TensorBoard gives the plugin."""
        return next(frame for frame in self.page.frames if "dlprof" in frame.url and frame.parent_frame is not None)

    def find(self, selector: str, text: str = "", nth: int = 0) -> ElementHandle | None:
        """What a user would see, scrolled into sight; disabled ones are not found."""
        element = self.frame.evaluate_handle(_FIND, [selector, text, nth]).as_element()
        if element is not None:
            element.evaluate("(element) => element.scrollIntoView({block: 'nearest'})")
            self.rest()
        return element

    def find_in_host(self, selector: str, text: str = "") -> ElementHandle | None:
        """What belongs to TensorBoard."""
        return self.page.main_frame.evaluate_handle(_FIND, [selector, text, 0]).as_element()

    def rest(self) -> None:
        """Wait until nothing changes any more."""
        self.frame.evaluate("atRest()")

    def first_content_s(self) -> tuple[float, float]:
        """How long the Dashboard took to stand here: since the tab's frame was made, and since the window was opened.

        Between the two TensorBoard loads its own page.
        """
        self.page.frame_locator("iframe").locator(".dashboard .panel").first.wait_for()
        self.rest()
        stood = self.frame.evaluate("firstContent")
        begun = [frame.evaluate("performance.timeOrigin") for frame in (self.frame, self.page.main_frame)]
        return (stood - begun[0]) / 1e3, (stood - begun[1]) / 1e3

    def begin(self) -> None:
        """Begin the interaction here; the work before, to find its place, does not count."""
        self._mark("begin")

    def _mark(self, what: str) -> None:
        self.page.evaluate("(name) => { performance.mark(name); }", what)

    def longest_tasks(self, acts: Mapping[str, Callable[[Tab], bool]]) -> dict[str, Held]:
        """The longest task of each interaction until the page is at rest; none where there is nothing to act on."""
        acted = []
        self._browser.start_tracing(page=self.page, categories=_CATEGORIES)
        try:
            for name, act in acts.items():
                if act(self):
                    self.rest()
                    self._mark("end")
                    acted.append(name)
        finally:
            trace = json.loads(self._browser.stop_tracing())
        return dict(zip(acted, longest_tasks(trace["traceEvents"]), strict=True))


def longest_tasks(events: Sequence[Mapping[str, Any]]) -> list[Held]:
    """The longest task of the main thread between each mark ``begin`` and the next mark ``end``."""
    marks = sorted((event for event in events if event["name"] in ("begin", "end")), key=lambda event: int(event["ts"]))
    pairs = [(one, other) for one, other in pairwise(marks) if (one["name"], other["name"]) == ("begin", "end")]
    return [
        _longest(
            [
                event
                for event in events
                if event["name"] == "RunTask"
                and (event["pid"], event["tid"]) == (begin["pid"], begin["tid"])
                and begin["ts"] < event["ts"] < end["ts"]
                and "tdur" in event  # else it had not ended when the trace did
            ]
        )
        for begin, end in pairs
    ]


def _longest(tasks: Sequence[Mapping[str, Any]]) -> Held:
    """Of no task, as of a press on what does nothing: none."""
    return Held(*(max((task[key] for task in tasks), default=0) / 1e3 for key in ("dur", "tdur")))


@contextmanager
def opened(address: str, script: str = "") -> Iterator[Callable[[str], Tab]]:
    """A browser; opens an address of the tab in a window without any memory of an earlier one, in whose frames
    ``script`` runs first."""
    with sync_playwright() as playwright:
        executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])

        def open_tab(state: str) -> Tab:
            page = browser.new_page(viewport={"width": SIZE["width"], "height": SIZE["height"]})
            page.set_default_timeout(_PATIENCE_MS)
            page.add_init_script(_WATCH + script)
            page.goto(f"{address}#dlprof{state}")
            return Tab(browser, page)

        try:
            yield open_tab
        finally:
            browser.close()
