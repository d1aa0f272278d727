"""What Ops tells of the op, the kernel or the group that is selected: its efficiency, its kernels, its ops."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.serving import TensorBoard


def test_why_an_op_does_not_use_matrix_units(page: Page, tensorboard: TensorBoard) -> None:
    """The selected op says so, with what it could gain, and leads to Efficiency."""
    profile = tensorboard.profile("amp")["id"]
    cause = tensorboard.get("efficiency", profile=profile)["causes"][0]["label"]
    asked = {"table": "efficiency", "where.cause": f"={cause}", "limit": "1"}
    (op,) = tensorboard.get("table", profile=profile, **asked)["rows"]
    page.goto(tensorboard.page(run="amp", view="ops", ops__row=op["op_id"]))
    said = page.locator(".details-pane")
    expect(said).to_contain_text(op["op_id"])
    iterations = tensorboard.get("dashboard", profile=profile)["performance"]["profiled_iterations"]
    assert op["calls"] == iterations > 1
    expect(said).to_contain_text("1 call · ")
    expect(said).to_contain_text(" of GPU time an iteration")
    expect(said).to_contain_text(f"{cause}.")
    expect(said).to_contain_text("Could gain")
    said.get_by_role("link", name="Efficiency").click()
    expect(page.locator(".efficiency")).to_contain_text(op["op_id"])


def test_a_kernel_is_told_itself_with_the_op_that_launched_it(page: Page, tensorboard: TensorBoard) -> None:
    """Also where that is a single op, which a click opens; the whole name is within the pane."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__by="kernel"))
    profile = tensorboard.profile("amp")["id"]
    kernels = tensorboard.get("table", profile=profile, table="kernels_of_group", group="")["rows"]
    kernel = next(row for row in kernels if row["ops"] == 1)
    page.locator(f'.ops-tables tbody tr:has([data-tip="{kernel["name"]}"])').first.click()
    pane = page.locator(".ops-and-pane > .details-pane")
    expect(pane).to_contain_text(kernel["name"])
    assert pane.evaluate("element => element.scrollWidth === element.clientWidth")
    op = pane.locator("p").filter(has_text="Launched by").get_by_role("link")
    name = op.inner_text()
    op.click()
    expect(pane.get_by_role("heading", level=2)).to_contain_text(name)


def test_a_group_tells_its_longest_kernels(page: Page, tensorboard: TensorBoard) -> None:
    """Those of all its ops, of which no two are written alike."""
    page.goto(tensorboard.page(run="amp", view="ops"))
    page.locator(".ops-tables > :first-child tbody tr").first.click()
    names = page.locator(".ops-and-pane > .details-pane .kernel-name")
    profile = tensorboard.profile("amp")["id"]
    key = tensorboard.get("table", profile=profile, table="op_paths", sort="-gpu_time_ns")["rows"][0]["key"]
    kernels = tensorboard.get("table", profile=profile, table="kernels_of_path", row=key)["rows"]
    expect(names).to_have_count(5)
    assert [name.get_attribute("data-tip") for name in names.all()] == [row["name"] for row in kernels[:5]]
    assert len(set(names.all_inner_texts())) == 5


def test_what_is_told_of_an_op_of_a_group_is_in_sight(page: Page, tensorboard: TensorBoard) -> None:
    """Beside the table below too, however far the page is scrolled."""
    page.goto(tensorboard.page(run="amp", view="ops"))
    page.locator(".ops-tables > :first-child tbody tr").first.click()
    below = page.locator(".ops-tables > :nth-child(2) tbody tr").last
    below.scroll_into_view_if_needed()
    below.click()
    pane = page.locator(".ops-and-pane > .details-pane")
    # Its id tells it from the others of its group, to which a link leads back.
    expect(pane.get_by_role("heading", level=2)).to_have_text(re.compile(r" [A-Z0-9_]+_\d+$"))
    expect(pane.get_by_role("button", name="Close")).to_be_in_viewport()
    expect(pane.get_by_role("heading", level=2)).to_be_in_viewport()
