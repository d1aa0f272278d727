"""Tables show the columns that fit: nobody has to scroll sideways to learn that a column exists."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tensorboard_plugin_dlprof.queries.ops import OPS
from tests.browser.serving import TensorBoard

SHOWN = {
    "top ops": {"view": "dashboard"},
    "op_types": {"view": "op_types"},
    "efficiency": {"view": "efficiency"},
    "ops": {"view": "ops"},
    "kernels of an op": {"view": "ops", "ops__row": "CONV2D_1"},
    "a group": {"view": "groups", "groups__row": "/ResNet/"},
    "kernels of an iteration": {"view": "kernels_by_iteration", "iters__row": "2"},
    "kernels of an op in an iteration": {"view": "kernels_by_op", "oiters__row": "2", "oops__row": "CONV2D_1"},
}


def _columns(page: Page, table: str) -> list[str]:
    return _labels(page.get_by_role("grid", name=table, exact=True))


def _labels(grid: Locator) -> list[str]:
    heads = grid.get_by_role("columnheader")
    return [re.sub(r"\s*\(\S+\)$", "", text.strip()) for text in heads.all_inner_texts()]


FITS = """(width) => innerWidth === width &&
    [...document.querySelectorAll("html, .table-scroll, .top-scroll, .tree-scroll")]
    .every((element) => element.scrollWidth <= element.clientWidth) &&
    [...document.querySelectorAll(".sort-label")].every((label) => label.scrollWidth <= label.clientWidth)"""


@pytest.mark.parametrize("shown", SHOWN)
def test_no_table_is_wider_than_the_page(page: Page, tensorboard: TensorBoard, shown: str) -> None:
    """At first no table needs to be scrolled sideways, nor does the page, at any width; and no column's name is cut."""
    page.goto(tensorboard.page(run="amp", **SHOWN[shown]))
    expect(page.locator(".table-scroll tbody tr, .top-groups tbody tr").first).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    for width in (1920, 1440, 1280, 900, 480, 320):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(FITS, arg=width)


def test_the_tree_keeps_what_it_is_read_for(page: Page, tensorboard: TensorBoard) -> None:
    """On a narrow page stay name, share, GPU time, gain, what limits it, Tensor Core use, and the column of the order;
    the others are named."""
    page.set_viewport_size({"width": 800, "height": 900})
    page.goto(tensorboard.page(run="amp", view="modules", groups__sort="-gpu_idle_ns"))
    heads = page.get_by_role("treegrid").get_by_role("columnheader")
    remaining = r"Module.*Share.*GPU Time.*Could Gain.*Bound by.*On TC.*Gaps within Calls"
    expect(heads.first).to_be_visible()
    assert re.search(remaining, re.sub(r"\s+", " ", " ".join(heads.all_inner_texts())))
    expect(page.locator(".tree-narrow")).to_contain_text("CPU Overhead")
    page.set_viewport_size({"width": 1920, "height": 900})
    expect(heads).to_have_count(13)
    expect(page.locator(".tree-narrow")).not_to_contain_text("Wider pages")


def test_the_cause_is_in_sight_on_a_laptop(page: Page, tensorboard: TensorBoard) -> None:
    """Of the ops stand name, time, Tensor Core use and its cause from 1280 pixels on; the rest comes as it fits."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__by="none"))
    counts = []
    for width in (1280, 1440, 1920, 3000):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator(".table-scroll tbody tr").first).to_be_visible()
        page.wait_for_function(
            "() => { const t = document.querySelector('.table-scroll'); return t.scrollWidth === t.clientWidth; }"
        )
        columns = _columns(page, "Ops")
        assert {"GPU Time", "Op Name", "Share", "On TC", "Why Not on TC"} <= set(columns), columns
        counts.append(len(columns))
    assert counts == sorted(counts)
    # One is the same in all rows. A table is fitted again a moment after the window is.
    expect(page.get_by_role("grid", name="Ops", exact=True).get_by_role("columnheader")).to_have_count(16)


@pytest.mark.parametrize(
    ("view", "table"),
    [("ops", "Ops"), ("efficiency", re.compile("^Ops by ")), ("kernels_by_iteration", "Iteration Summary")],
)
def test_tensor_cores_are_in_sight_on_half_a_screen(
    page: Page, tensorboard: TensorBoard, view: str, table: str | re.Pattern[str]
) -> None:
    """At 800 pixels: whether ops use Tensor Cores and why not, before what identifies or describes them otherwise."""
    page.set_viewport_size({"width": 800, "height": 900})
    page.goto(tensorboard.page(run="amp", view=view, ops__by="none", eff__by="none"))
    grid = page.get_by_role("grid", name=table)
    expect(grid.locator("tbody tr").first).to_be_visible()
    shown = set(_labels(grid))
    wanted = {
        "ops": {"Op Name", "On TC", "Why Not on TC"},
        "efficiency": {"Op Name", "On TC", "Why Not on TC"},
    }
    assert wanted.get(view, {"TC Kernels Launched"}) <= shown


def test_the_order_and_the_filters_stay_in_sight(page: Page, tensorboard: TensorBoard) -> None:
    """However narrow: the column that rows are sorted by and those that filter them."""
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto(tensorboard.page(run="amp", view="ops", ops__sort="kernel_calls", ops__where__data_type="float"))
    expect(page.locator(".table-scroll tbody tr").first).to_be_visible()
    assert {"Op Name", "Kernel Calls", "Data Type"} <= set(_columns(page, "Ops"))


def test_chosen_columns_stand_whatever_the_width(page: Page, tensorboard: TensorBoard) -> None:
    """All of them at a press, to be scrolled; one less, in the link; and back to those that fit."""
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto(tensorboard.page(run="amp", view="ops", ops__by="none"))
    expect(page.locator(".table-scroll tbody tr").first).to_be_visible()
    fitting = _columns(page, "Ops")
    page.get_by_role("button", name="Columns").click()
    menu = page.get_by_role("group", name="Columns to show")
    expect(menu.get_by_role("button", name="Automatic")).to_be_disabled()
    menu.get_by_role("button", name="All").click()
    expect(page.get_by_role("grid", name="Ops").get_by_role("columnheader")).to_have_count(len(OPS.columns))
    menu.get_by_label("CPU Time").uncheck()
    expect(page.get_by_role("grid", name="Ops").get_by_role("columnheader")).to_have_count(len(OPS.columns) - 1)
    page.reload()
    expect(page.get_by_role("grid", name="Ops").get_by_role("columnheader")).to_have_count(len(OPS.columns) - 1)
    page.get_by_role("button", name="Columns").click()
    menu.get_by_role("button", name="Automatic").click()
    expect(page.get_by_role("grid", name="Ops").get_by_role("columnheader")).to_have_count(len(fitting))
    expect(page).not_to_have_url(re.compile("ops.columns"))
    # What is the same in every row stands in one line instead, and can be had as a column.
    folded = page.locator(".table-folded")
    expect(folded).to_contain_text("Calls 1")
    assert "Calls" not in fitting
    folded.get_by_role("button", name="Unfold").click()
    expect(folded).to_have_count(0)
    assert "Calls" in _columns(page, "Ops")


@pytest.mark.parametrize("real_run", ["cuda_graphs"], indirect=True)
def test_a_baseline_of_which_no_op_is_paired_leads_to_the_comparison(
    page: Page, tensorboard: TensorBoard, real_run: str
) -> None:
    """Empty columns of A say nothing of why: the comparison pairs kernels, too."""
    page.goto(tensorboard.page(run="amp", view="ops", base=tensorboard.profile(real_run)["id"]))
    folded = page.locator(".table-folded")
    expect(folded).to_contain_text("None of these is paired with the baseline; see Compare")
    folded.get_by_role("link", name="Compare").click()
    expect(page).to_have_url(re.compile("view=compare"))
