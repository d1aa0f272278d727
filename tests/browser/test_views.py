"""The views of tables: what a selection fills, links, op types, GPUs, aggregation, the header."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tensorboard_plugin_dlprof.queries.ops import OP_TYPES
from tests.browser.serving import VIEWS, TensorBoard


def rows_of(tensorboard: TensorBoard, run: str, table: str, **query: str) -> list[dict[str, Any]]:
    """What the server answers for the first page of a table."""
    return list(tensorboard.get("table", profile=tensorboard.profile(run)["id"], table=table, **query)["rows"])


def grid(page: Page, name: str) -> Locator:
    """The table of that name."""
    return page.get_by_role("grid", name=name, exact=True)


def test_the_menu_opens_every_page(page: Page, tensorboard: TensorBoard) -> None:
    """Each entry of the menu opens its page, GPUs too where there is one. Back walks through them again."""
    page.goto(tensorboard.page(run="amp"))
    menu = page.get_by_role("navigation", name="Pages")
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
    expect(menu.get_by_role("link")).to_have_count(len(VIEWS))
    titles = {
        "Modules": "Group Ops",
        "Ops": "Ops by Path",
        "Iterations": "Iterations",
        "GPUs and Ranks": "GPU Utilization",
    }
    for entry, title in titles.items():
        menu.get_by_role("link", name=entry, exact=True).click()
        expect(page.get_by_role("region", name=title, exact=True)).to_be_visible()
        expect(menu.get_by_role("link", name=entry, exact=True)).to_have_attribute("aria-current", "page")
    page.go_back()
    expect(page.get_by_role("region", name="Iterations", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    ("old", "entry", "title"),
    [
        ("groups", "Modules", "Group Ops"),
        ("graph", "Modules", "Compatibility Graph"),
        ("op_types", "Ops", "Op Type Summary"),
        ("kernels_by_iteration", "Iterations", "Kernels Launched in Iteration 3"),
        ("kernels_by_op", "Iterations", "Kernels Launched in Iteration 3 by Op"),
    ],
)
def test_old_links(page: Page, tensorboard: TensorBoard, old: str, entry: str, title: str) -> None:
    """A link to what was a view of its own opens the page that it is a part of, and the help names it there."""
    page.goto(tensorboard.page(run="amp", view=old, iters__row="3", oiters__row="3"))
    expect(page.get_by_role("region", name=title, exact=True)).to_be_visible()
    menu = page.get_by_role("navigation", name="Pages")
    expect(menu.get_by_role("link", name=entry, exact=True)).to_have_attribute("aria-current", "page")


def test_op_types(page: Page, tensorboard: TensorBoard) -> None:
    """Op Type Summary lists the types of the server and has all nineteen columns of the guide, and a share. Above it
    stands what takes most, in a sentence and as a bar whose pieces select rows."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__by="type"))
    table = grid(page, "Op Type Summary")
    rows = rows_of(tensorboard, "amp", "op_types", limit="25")
    expect(table.locator("tbody tr")).to_have_count(len(rows))
    expect(page.locator(".headline h2")).to_contain_text(f"{rows[0]['op_type']} takes")
    # A piece has one name, across its parts, on each of which it is in the ink of that colour.
    for segment in page.locator(".largest a.segment").all():
        texts = segment.locator("svg:has(text)").all_text_contents()
        assert all(text in max(texts, key=len) for text in texts)
    page.locator(".largest a.segment").nth(1).click()
    expect(table.locator('tr[aria-selected="true"] td').first).to_have_text(rows[1]["op_type"])
    page.get_by_role("button", name="Columns").first.click()
    page.get_by_role("group", name="Columns to show").get_by_role("button", name="All").click()
    expect(table.get_by_role("columnheader")).to_have_count(len(OP_TYPES.columns))
    for i, row in enumerate(rows[:5]):
        expect(table.locator("tbody tr").nth(i).locator("td").first).to_have_text(row["op_type"])


def test_kernels_by_iteration(page: Page, tensorboard: TensorBoard) -> None:
    """An iteration, selected by keyboard, fills its kernels; another one starts them at the first page."""
    page.goto(tensorboard.page(run="amp", view="iterations", iters__by="kernel"))
    iterations = rows_of(tensorboard, "amp", "iterations")
    table = grid(page, "Iteration Summary")
    expect(table.locator("tbody tr")).to_have_count(len(iterations))
    share = iterations[0]["gpu_time_fraction"]
    expect(table.locator("tbody tr").first.locator(".meter-share").first).to_have_text(f"{share * 100:.1f} %")
    first = iterations[0]["iteration"]
    # Those of the iteration of median length: by then the page has settled.
    shown = page.get_by_role("grid", name=re.compile("^Kernels Launched in Iteration"))
    expect(shown.locator("tbody tr").first).to_be_visible()
    expect(page.locator("[aria-busy='true']")).to_have_count(0)
    table.locator("tbody tr").first.locator("td").first.press("Enter")
    kernels = grid(page, f"Kernels Launched in Iteration {first}")
    rows = rows_of(tensorboard, "amp", "kernels_of_iteration", iteration=str(first), limit="10")
    expect(kernels.locator("tbody tr")).to_have_count(len(rows))
    expect(kernels.locator("tbody tr").first.locator(".kernel-name")).to_have_attribute(
        "data-tip", rows[0]["long_name"]
    )
    page.get_by_role("region", name=f"Kernels Launched in Iteration {first}").get_by_role(
        "button", name="Next page"
    ).click()
    expect(page).to_have_url(re.compile("ikernels.page=2"))
    table.locator("tbody tr").nth(1).click()
    expect(grid(page, f"Kernels Launched in Iteration {iterations[1]['iteration']}")).to_be_visible()
    expect(page).not_to_have_url(re.compile("ikernels.page"))


def test_kernels_by_op(page: Page, tensorboard: TensorBoard) -> None:
    """Iteration, then op, then kernels; the link opens all three again, with the same rows. Kernels of one name can be
    one row."""
    page.goto(tensorboard.page(run="amp", view="iterations", iters__by="op"))
    iteration = rows_of(tensorboard, "amp", "iterations")[1]["iteration"]
    grid(page, "Iteration Summary").locator("tbody tr").nth(1).click()
    ops = rows_of(tensorboard, "amp", "ops_of_iteration", iteration=str(iteration))
    grid(page, f"Kernels Launched in Iteration {iteration} by Op").locator("tbody tr").nth(2).click()
    op = ops[2]["op_id"]
    kernels = grid(page, f"Kernels of {op} Launched in Iteration {iteration}")
    expected = rows_of(tensorboard, "amp", "kernels_of_iteration_op", iteration=str(iteration), op=op)
    expect(kernels.locator("tbody tr")).to_have_count(len(expected))
    page.reload()
    expect(kernels.locator("tbody tr")).to_have_count(len(expected))
    expect(
        grid(page, f"Kernels Launched in Iteration {iteration} by Op").locator('tr[aria-selected="true"]')
    ).to_have_count(1)
    page.get_by_role("button", name="by name").click()
    names = rows_of(tensorboard, "amp", "kernel_names_of_iteration", iteration=str(iteration), limit="10")
    by_name = grid(page, f"Kernels Launched in Iteration {iteration}").locator("tbody tr")
    expect(by_name).to_have_count(len(names))
    expect(by_name.first.locator(".kernel-name")).to_have_attribute("data-tip", names[0]["name"])


def test_an_iteration_is_chosen_at_first(page: Page, tensorboard: TensorBoard) -> None:
    """The one of median length: its kernels stand there at once, the URL as before."""
    page.goto(tensorboard.page(run="amp", view="iterations"))
    expect(
        page.get_by_role("grid", name=re.compile(r"^Kernels Launched in Iteration \d+$")).locator("tbody tr").first
    ).to_be_visible()
    expect(grid(page, "Iteration Summary").locator('tr[aria-selected="true"]')).to_have_count(1)
    expect(page).not_to_have_url(re.compile("iters.row"))


def test_ops_of_one_path_are_told_apart(page: Page, tensorboard: TensorBoard) -> None:
    """Where rows have the same path, the op's id stands beside it."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__columns="gpu_time_ns,name", ops__size="100"))
    rows = rows_of(tensorboard, "amp", "ops", limit="100")
    names = [row["name"] for row in rows]
    paths = grid(page, "Ops").locator("tbody .op-path")
    expect(paths).to_have_count(len(rows))
    doubled = [i for i, name in enumerate(names) if names.count(name) > 1]
    assert doubled
    for i in doubled[:3]:
        expect(paths.nth(i)).to_contain_text(rows[i]["op_id"])


@pytest.mark.parametrize("real_run", ["nsight"], indirect=True)
def test_gpus(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """With two GPUs the Dashboard leads to GPUs, which shows a bar and a row for each."""
    page.goto(tensorboard.page(run=real_run))
    page.get_by_role("button", name="More about GPU Utilization").click()
    page.get_by_role("group", name="More about GPU Utilization").get_by_role("link", name="GPUs").click()
    expect(page.locator(".gpu-track > *")).to_have_count(2)
    expect(grid(page, "GPUs").locator("tbody tr")).to_have_count(2)
    devices = tensorboard.dashboard(real_run)["gpu_utilization"]["devices"]
    used = rf"GPU utilization {devices[0]['fraction'] * 100:.1f}\s%"
    expect(page.locator(".gpu-track").first).to_have_attribute("data-tip", re.compile(used))
    # Less than that computed: communication is no use of the GPU.
    expect(page.locator(".gpu-share").first).to_have_text("84.6 %")
    track = page.locator(".gpu-track").first.bounding_box()
    half = page.locator(".gpu-axis span").nth(2).bounding_box()
    assert track is not None
    assert half is not None
    assert half["x"] + half["width"] / 2 == pytest.approx(track["x"] + track["width"] / 2, abs=1)


@pytest.mark.parametrize("real_run", ["dlprof"], indirect=True)
@pytest.mark.parametrize("view", VIEWS)
def test_nvidias_own_database(page: Page, tensorboard: TensorBoard, real_run: str, view: str) -> None:
    """Every view opens on NVIDIA's database without an error."""
    page.goto(tensorboard.page(run=real_run, view=view))
    expect(page.locator(".panel, .data-table, .message").first).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("view", VIEWS)
def test_without_gpu_work(page: Page, tensorboard: TensorBoard, view: str) -> None:
    """Every view of a recording without GPU work opens, and none shows an error."""
    page.goto(tensorboard.page(run="cpu", view=view))
    expect(page.locator(".panel, .data-table, .message").first).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("by", ["op", "kernel"])
def test_wide_pieces_of_the_bar_of_ops_have_a_name(page: Page, tensorboard: TensorBoard, by: str) -> None:
    """A long name is cut, not left out: beside small pieces with names a large one without would say nothing."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="ddp/rank0", view="ops", ops__by=by))
    pieces = page.locator(".largest .stacked-bar a.segment")
    expect(pieces.first).to_be_visible()
    wide = [piece for piece in pieces.all() if (piece.bounding_box() or {"width": 0})["width"] >= 60]
    assert wide
    for piece in wide:
        expect(piece.locator("text").first).to_have_text(re.compile(r"\w{4}"))


def test_the_name_in_the_bar_of_ops_begins_where_its_group_begins(page: Page, tensorboard: TensorBoard) -> None:
    """A name within one of the colours of a group would be read as the name of that part."""
    page.goto(tensorboard.page(run="amp", view="ops"))
    pieces = page.locator(".largest .stacked-bar a.segment", has=page.locator("rect ~ rect")).filter(has_text="conv2d")
    expect(pieces.first).to_be_visible()
    for piece in pieces.all():
        group, name = piece.bounding_box(), piece.locator("text").first.bounding_box()
        assert group is not None
        assert name is not None
        assert name["x"] - group["x"] < 10


def test_letters_of_a_bar_are_of_one_ink(page: Page, tensorboard: TensorBoard) -> None:
    """A letter over two colours is not cut into a white and a black half: it has an edge that is seen on both."""
    page.goto(tensorboard.page(run="amp", view="ops"))
    expect(page.locator(".largest .stacked-bar text").first).to_be_visible()
    edges = set()
    for width in range(800, 1500, 100):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator(".largest .stacked-bar rect ~ rect").first).to_be_visible()
        drawn = page.locator(".largest .stacked-bar text").evaluate_all(
            "texts => texts.map((text) => getComputedStyle(text).stroke)"
        )
        edges |= {edge != "none" for edge in drawn}
    assert edges == {False, True}


@pytest.mark.parametrize("real_run", ["cuda_graphs"], indirect=True)
def test_the_legend_of_a_bar_has_the_colours_that_are_seen(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """Kernels of a hundred thousandth of the time are no colour in the bar."""
    page.goto(tensorboard.page(run=real_run, view="ops"))
    legend = page.get_by_role("list", name="Colours of the bar")
    expect(legend.get_by_role("listitem")).to_have_text(["Use of Tensor Cores not known"])


@pytest.mark.parametrize("real_run", ["megatron"], indirect=True)
@pytest.mark.parametrize("view", ["ops", "efficiency", "modules", "iterations", "gpus"])
def test_shares_of_what_was_recorded_are_told_as_such(
    page: Page, tensorboard: TensorBoard, real_run: str, view: str
) -> None:
    """Where GPU work is missing, each page whose shares leave it out says so, and leads to the finding."""
    page.goto(tensorboard.page(run=real_run, view=view))
    headline = page.locator(".headline").first
    missing = "GPU work is missing from this recording"
    if view == "iterations":
        expect(headline).to_contain_text("The iteration takes 62.6 ms. Computing at least 1.7 % of it on rank 0 of 2")
        expect(headline).to_contain_text(f"{missing}, and may fill 53.4 ms (85.3 %) that look idle.")
        expect(headline).to_contain_text("Shares of GPU time are of what was recorded.")
    else:
        said = f"{missing} (in 53.4 ms of the iteration, 85.3 %): shares of GPU time are of what was recorded."
        expect(headline).to_contain_text(said)
    headline.get_by_role("link", name="what was recorded" if view == "iterations" else missing).click()
    expect(page.get_by_role("heading", name="Not all GPU work is recorded")).to_be_in_viewport()


@pytest.mark.parametrize("by", [None, "op", "type", "kernel"])
def test_the_largest_groups_lead_to_what_would_change_them(
    page: Page, tensorboard: TensorBoard, by: str | None
) -> None:
    """The finding with most evidence in them, whatever they are."""
    page.goto(tensorboard.page(run="amp", view="ops", **({} if by is None else {"ops__by": by})))
    line = page.locator(".headline .model-line")
    expect(line).to_have_text(re.compile(r"^\S.* in all ops: an iteration could be [\d.]+ to [\d.]+ ms shorter\.$"))
    name = line.get_by_role("link").inner_text()
    line.get_by_role("link").click()
    expect(page.get_by_role("heading", name=name)).to_be_in_viewport()
