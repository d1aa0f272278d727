"""The graph of Modules: what a node shows, what of it is in sight, keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.serving import TensorBoard
from tests.waiting import wait_for


def test_the_graph(page: Page, tensorboard: TensorBoard) -> None:
    """A node, clicked, shows run time, kernels and help until Esc; it opens and closes; the link keeps both."""
    page.goto(tensorboard.page(run="amp", view="modules", groups__as="graph"))
    nodes = page.locator(".graph-node")
    expect(nodes.first).to_be_visible()
    nodes.first.click()
    pane = page.get_by_role("complementary")
    expect(pane.get_by_text("GPU time", exact=True)).to_be_visible()
    expect(pane.get_by_role("heading", name=re.compile("^Kernels"))).to_be_visible()
    expect(pane.get_by_text(re.compile("ligible op"), exact=False).first).to_be_visible()
    before = nodes.count()
    nodes.first.locator(".node-toggle").click()
    expect(nodes).not_to_have_count(before)
    page.get_by_role("button", name="Zoom in").click()
    expect(page).to_have_url(re.compile("groups.place="))
    page.reload()
    expect(pane).to_be_visible()
    page.keyboard.press("Escape")
    expect(pane).to_have_count(0)


def test_what_is_selected_in_the_graph_stands_beside_its_pane(page: Page, tensorboard: TensorBoard) -> None:
    """The pane that opens moves the graph so far that the node is in sight; boxes and texts keep their size."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp", view="modules", groups__as="graph"))
    nodes = page.locator(".graph-node")
    expect(nodes.first).to_be_visible()
    before = nodes.first.locator(".node-box").bounding_box()
    assert before is not None
    nodes.locator(".node-box").last.click()
    pane = page.get_by_role("complementary")
    expect(pane).to_be_visible()
    beside = pane.bounding_box()
    assert beside is not None

    def is_in_sight() -> bool:
        box = page.locator(".graph-node.selected .node-box").bounding_box()
        return box is not None and box["x"] >= 0 and box["x"] + box["width"] <= beside["x"]

    wait_for(is_in_sight)
    after = page.locator(".graph-node.selected .node-box").bounding_box()
    assert after is not None
    # The legend may take a second line then, and nothing else.
    assert after["height"] >= 0.95 * before["height"]
    page.get_by_role("button", name="Expand all").click()
    sizes = "texts => Math.min(...texts.map((text) => text.getBoundingClientRect().height))"
    assert page.locator(".graph-node text").evaluate_all(sizes) >= 10


def test_what_is_selected_in_the_table_is_in_sight_in_the_graph(page: Page, tensorboard: TensorBoard) -> None:
    """What lies below the levels that the graph opens at first is opened, as far as to what is selected."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp", view="modules"))
    page.locator(".headline.waste h2 button").click()
    pane = page.get_by_role("complementary")
    expect(pane).to_be_visible()
    page.get_by_role("button", name="Graph", exact=True).click()
    expect(page.locator(".graph-node.selected .node-box")).to_be_in_viewport(ratio=1)
    box = page.locator(".graph-node.selected .node-box").bounding_box()
    beside = pane.bounding_box()
    assert box is not None
    assert beside is not None
    assert box["x"] + box["width"] <= beside["x"]


def test_a_graph_that_does_not_fit_stays_readable_and_can_be_shown_whole(page: Page, tensorboard: TensorBoard) -> None:
    """Expand all shows all as long as names can be read, else offers to show all, however small."""
    page.goto(tensorboard.page(run="amp", view="modules", groups__as="graph"))
    page.get_by_role("button", name="Expand all").click()
    expect(page.locator(".graph-node .node-name", has_text="_amp_update_scale_")).to_be_in_viewport(ratio=1)
    page.goto(tensorboard.page(run="amp", view="modules", groups__as="graph", groups__fold="no"))
    page.get_by_role("button", name="Expand all").click()
    more = page.get_by_role("button", name="Show all", exact=True)
    expect(more).to_be_visible()
    box = page.locator(".graph-node .node-box").first
    place = box.bounding_box()
    assert place is not None
    assert place["height"] > 30
    more.click()
    expect(more).to_have_count(0)
    # Drawn small, a box holds its name alone.
    expect(page.locator(".graph-node .node-words")).to_have_count(0)
    drawing = page.locator(".graph-body").bounding_box()
    assert drawing is not None
    everything = page.locator(".graph-body svg > g").evaluate("group => group.getBoundingClientRect().toJSON()")
    assert drawing["y"] <= everything["top"]
    assert everything["bottom"] <= drawing["y"] + drawing["height"] + 1


def test_the_views_are_chosen_in_the_same_place(page: Page, tensorboard: TensorBoard) -> None:
    """A second click where the first one was changes nothing, and no tooltip stands over what the first one showed."""
    page.goto(tensorboard.page(run="amp", view="modules"))
    button = page.get_by_role("button", name="Graph", exact=True)
    # Above it stands the sentence, with what the findings say.
    expect(page.locator(".headline.waste:not(.waiting)")).to_be_visible()
    before = button.bounding_box()
    button.click()
    expect(page.locator(".graph-node").first).to_be_visible()
    assert button.bounding_box() == before
    expect(page.get_by_role("tooltip")).to_have_count(0)
    assert before is not None
    page.mouse.move(before["x"] + 3, before["y"] + 3)
    expect(page.get_by_role("tooltip")).to_have_count(0)
    page.get_by_role("button", name="Treemap").hover()
    button.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()


def test_the_graph_by_keyboard(page: Page, tensorboard: TensorBoard) -> None:
    """Arrow keys walk over the nodes, Enter shows one."""
    page.goto(tensorboard.page(run="amp", view="modules", groups__as="graph"))
    page.get_by_role("application", name=re.compile("Module graph")).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary")).to_be_visible()
    expect(page.locator(".graph-node.selected")).to_have_count(1)
