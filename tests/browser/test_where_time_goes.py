"""The Dashboard's largest groups: what they are, how they are named, where they lead."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import TensorBoard
from tests.browser.test_dashboard import exact, panel, tip_of


@pytest.mark.parametrize(("run", "sort"), [("amp", "-gpu_time_ns"), ("cpu", "-cpu_time_ns")])
def test_where_time_goes(page: Page, tensorboard: TensorBoard, run: str, sort: str) -> None:
    """The ten largest groups, by CPU time without a GPU; other groupings; a row opens its group."""
    profile, time = tensorboard.profile(run)["id"], sort.removeprefix("-")
    page.goto(tensorboard.page(run=run))
    where = page.get_by_role("region", name=re.compile("^Where .PU Time Goes$"))
    for button, table, name in (("Path", "op_paths", "name"), ("Type", "op_types", "op_type")):
        where.get_by_role("button", name=button).click()
        rows = tensorboard.get("table", profile=profile, table=table, sort=sort, limit="10", per="iteration")["rows"]
        rows = [row for row in rows if row[time] > 0]
        shown = where.locator("tbody tr")
        expect(shown).to_have_count(len(rows))
        expect(shown.first.locator(".op-path")).to_have_attribute("data-tip", rows[0][name])
        assert exact(rows[0][time]) in tip_of(shown.first.locator("td.share"))
    where.get_by_role("link", name=rows[1]["op_type"]).click()
    selected = page.get_by_role("grid", name="Op Type Summary").locator('tr[aria-selected="true"]')
    expect(selected.locator("td").first).to_have_text(rows[1]["op_type"])


@pytest.mark.parametrize("width", [1280, 800])
def test_groups_are_cut_in_their_middle(page: Page, tensorboard: TensorBoard, width: int) -> None:
    """Of a path that has no room, the module that owns the op and the op's own name stay."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(tensorboard.page(run="amp"))
    rows = tensorboard.get("table", profile=tensorboard.profile("amp")["id"], table="op_paths", sort="-gpu_time_ns")
    names = panel(page, "Where GPU Time Goes").locator("tbody .op-path")
    expect(names).to_have_count(10)
    for name, row in zip(names.all(), rows["rows"][:10], strict=True):
        *_, owner, op = ["", *row["name"].strip("/").split("/")]
        own = name.locator(".op-name")
        assert own.inner_text() == op
        assert own.evaluate("each => each.scrollWidth <= each.clientWidth")
        if owner:
            start, _, end = name.locator(".op-place").inner_text().rstrip("/").rpartition("/")[2].partition("…")
            assert start, owner
            assert owner.startswith(start), owner
            assert owner.endswith(end), owner
            assert width < 1280 or start == owner


def test_groups_are_told_by_iteration_as_the_answer_is(page: Page, tensorboard: TensorBoard) -> None:
    """Times and calls stand beside gains of an iteration."""
    profile, count = (
        tensorboard.profile("amp")["id"],
        tensorboard.dashboard("amp")["performance"]["profiled_iterations"],
    )
    assert count > 1
    first = tensorboard.get("table", profile=profile, table="op_paths", sort="-gpu_time_ns", limit=1)["rows"][0]
    page.goto(tensorboard.page(run="amp"))
    table = panel(page, "Where GPU Time Goes")
    heads = table.locator("thead th").filter(has_text="per iteration")
    expect(heads).to_have_text([re.compile("Calls"), re.compile(r"GPU Time \(ms\)")])
    assert "Kernel time of an iteration" in tip_of(table.get_by_role("columnheader", name="Could Gain"))
    calls, time = table.locator("tbody tr").first.locator("td.number").all()[1:3]
    assert calls.inner_text() == f"{first['calls'] / count:g}"
    assert float(time.inner_text()) == pytest.approx(first["gpu_time_ns"] / count / 1e6, rel=0.005)
    assert f"{int(first['gpu_time_ns'] / count + 0.5):,} ns" in tip_of(time)
    expect(page.locator(".panels-note")).to_have_text(f"DLProf's panels: times are sums of {count} iterations.")
    expect(panel(page, "Resource Usage Breakdown")).to_contain_text("Idle time is divided by what the host did")


def test_the_count_of_groups_is_that_of_the_page_that_it_opens(page: Page, tensorboard: TensorBoard) -> None:
    """Ops leaves groups without GPU time out."""
    page.goto(tensorboard.page(run="amp"))
    link = panel(page, "Where GPU Time Goes").get_by_role("link", name=re.compile("^All [0-9]"))
    count = link.inner_text().split()[-1]
    link.click()
    expect(page.get_by_text(re.compile("^Showing 1 to 25 of "))).to_contain_text(f"of {count} ")
