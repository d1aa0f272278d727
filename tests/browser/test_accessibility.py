"""axe-core finds no serious fault, in either theme, on every page."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.serving import VIEWS, TensorBoard

SERIOUS = {"serious", "critical"}
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")

TABLE = ":is([role=grid], [role=treegrid])"
MOST_STOPS = 10


def check(page: Page) -> None:
    """No serious or critical violation of WCAG 2.1 A or AA, light or dark."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        _check(page)


def _check(page: Page) -> None:
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    result = Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}}).response["violations"]
    assert [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in result
        if each["impact"] in SERIOUS
    ] == []


def stops_to_row(page: Page) -> int:
    """How often Tab is pressed, from the top of the page on, until a row of a table has the focus."""
    for stops in range(1, 100):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('main tbody') !== null"):
            return stops
    raise AssertionError("Tab reaches no row")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("run", ["amp", "cpu"])
def test_pages(page: Page, tensorboard: TensorBoard, run: str, view: str) -> None:
    """Every view, with a row or a node selected where one can be; each has one heading of the first level. A row of
    the first table is among the first tab stops, and that of any table in the reach of the arrow keys from the first.
    """
    page.goto(tensorboard.page(run=run, view=view))
    expect(page.locator(".panel, .data-table, .message").first).to_be_visible()
    expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)  # a head has tab stops while rows are awaited
    expect(page.locator("h1")).to_have_count(1)
    if page.locator("main tbody [tabindex='0']:visible").count() > 0:
        assert stops_to_row(page) <= MOST_STOPS
    selectable = page.locator(".selectable, .tree-row, .graph-node")
    # All is drawn by now: a view without rows has none to select, and a row of gaps moves the timeline instead.
    if view != "timeline" and selectable.count() > 0:
        selectable.first.click()
        expect(page.locator("[aria-selected=true], .graph-node.selected").first).to_be_visible()
        expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    check(page)
    # At the end: rows that come later take the place of these, and of the focus in them.
    for table in page.locator(TABLE).filter(has=page.locator("tbody [tabindex='0']")).all():
        name = table.get_attribute("aria-label")
        page.get_by_role("button", name="Skip to the page").focus()
        for _ in range(MOST_STOPS - 1):
            page.keyboard.press("ArrowRight")
            if page.get_by_role("button", name=f"Skip to the table: {name}", exact=True).evaluate(
                "button => button === document.activeElement"
            ):
                break
        page.keyboard.press("Enter")
        expect(table.locator("tbody [tabindex='0']").first).to_be_focused()


def test_a_comparison(page: Page, tensorboard: TensorBoard) -> None:
    """All above its table are few tab stops; left and right walk over a menu, whose other keys choose in it."""
    base = tensorboard.profile("fp32")["id"]
    page.goto(tensorboard.page(run="amp", view="compare", base=base))
    expect(page.get_by_role("grid", name="Changes by Group of Ops").locator("tbody [tabindex='0']")).to_have_count(1)
    expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    menu = page.get_by_label("Iterations of A", exact=True)
    expect(menu).to_be_visible()
    assert stops_to_row(page) <= MOST_STOPS
    menu.focus()
    shown = menu.input_value()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Swap A and B")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(menu).to_be_focused()
    expect(menu).to_have_value(shown)
    page.keyboard.press("ArrowDown")
    expect(menu).to_be_focused()
    expect(menu).not_to_have_value(shown)
    check(page)


def test_what_opens(page: Page, tensorboard: TensorBoard) -> None:
    """The picker, the panes, the column menu and the page of a profile that failed."""
    page.goto(tensorboard.page(run="amp", details="kernels"))
    expect(page.get_by_role("complementary")).to_be_visible()
    page.locator(".picker-button").click()
    expect(page.get_by_role("option").first).to_be_visible()
    check(page)
    page.keyboard.press("Escape")
    page.goto(tensorboard.page(run="amp", view="ops", ops__by="none", details="help"))
    page.get_by_role("button", name="Columns").first.click()
    check(page)
    page.goto(tensorboard.page(run="broken"))
    expect(page.get_by_role("alert")).to_be_visible()
    check(page)
