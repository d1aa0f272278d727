"""What a user is about to click stays where it is while a page loads."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.serving import VIEWS, TensorBoard

BAR = 0.1
"""Web Vitals' limit of a good cumulative layout shift (https://web.dev/articles/cls)."""

WATCH = """
  window.shifts = [];
  new PerformanceObserver(list => {
    for (const shift of list.getEntries())
      if (!shift.hadRecentInput)
        window.shifts.push([shift.value, ...shift.sources.map(({ node }) => node?.className ?? "")]);
  }).observe({ type: "layout-shift", buffered: true });
"""
DRAWN = "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [800, 1280])
def test_a_page_that_loads(page: Page, tensorboard: TensorBoard, width: int, view: str) -> None:
    """Room is kept for what comes later: all that moves on a page, until it is complete, stays below the bar."""
    page.set_viewport_size({"width": width, "height": 800})
    page.add_init_script(WATCH)
    page.goto(tensorboard.page(run="amp", view=view))
    expect(page.locator(".panel, .data-table, .message").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    page.evaluate(DRAWN)
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, *_ in shifts) < BAR, shifts


def test_what_chooses_a_table_stays_while_it_loads(page: Page, tensorboard: TensorBoard) -> None:
    """Search and columns come with the table: they do not push it away below the pointer."""
    page.set_viewport_size({"width": 1280, "height": 800})
    held: list[Route] = []
    page.route(re.compile("table=kernel_names_of_iteration"), lambda route: held.append(route))
    with page.expect_request(re.compile("table=kernel_names_of_iteration")):
        page.goto(tensorboard.page(run="amp", view="iterations"))
    choice = page.get_by_role("group", name="Kernels", exact=True)
    expect(choice).to_be_visible()
    before = choice.bounding_box()
    for route in held:
        route.continue_()
    expect(page.get_by_role("searchbox", name="Search kernels")).to_be_visible()
    assert before is not None
    after = choice.bounding_box()
    assert after is not None
    assert after["x"] == before["x"]
