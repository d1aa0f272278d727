"""The tables of Ops and Kernels: paging, order, search, filters, selection, keyboard, copying."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tensorboard_plugin_dlprof.queries.ops import OPS
from tests.browser.serving import TensorBoard, viewing
from tests.shared_data import shared_data_or_none


def ops_table(page: Page) -> Locator:
    """The table of ops."""
    return page.get_by_role("grid", name="Ops", exact=True)


def ops_section(page: Page) -> Locator:
    """The table of ops with its tools."""
    return page.get_by_role("region", name="Ops", exact=True)


def paths(page: Page) -> Locator:
    """The op names on screen."""
    return ops_table(page).locator("tbody .op-path")


def rows_of(tensorboard: TensorBoard, run: str, **query: str) -> dict[str, Any]:
    """What the server answers for the ops of a run."""
    return dict(tensorboard.get("table", profile=tensorboard.profile(run)["id"], table="ops", **query))


def expect_names(page: Page, answer: dict[str, Any]) -> None:
    """The ops on screen are those of the answer, in its order."""
    expect(paths(page)).to_have_count(len(answer["rows"]))
    for i, row in enumerate(answer["rows"]):
        expect(paths(page).nth(i)).to_have_attribute("data-tip", row["name"])


@pytest.fixture
def opened(page: Page, tensorboard: TensorBoard) -> Page:
    """The ops of the AMP sample."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__by="none"))
    expect(paths(page).first).to_be_visible()
    return page


def test_first_page(opened: Page, tensorboard: TensorBoard) -> None:
    """The first page holds 25 rows in the server's own order, and says of how many."""
    answer = rows_of(tensorboard, "amp")
    expect_names(opened, answer)
    expect(ops_section(opened).get_by_role("status").filter(has_text="Showing")).to_have_text(
        f"Showing 1 to 25 of {answer['total']:,}"
    )


def test_pages_and_sizes(opened: Page, tensorboard: TensorBoard) -> None:
    """Next, a page's number and the number of rows show the rows that they promise."""
    pager = ops_section(opened)
    pager.get_by_role("button", name="Next page").click()
    expect_names(opened, rows_of(tensorboard, "amp", offset="25"))
    pager.get_by_role("button", name="Page 1", exact=True).click()
    expect_names(opened, rows_of(tensorboard, "amp"))
    expect(pager.get_by_role("button", name="Previous page")).to_be_disabled()
    pager.get_by_label("Rows").select_option("10")
    expect_names(opened, rows_of(tensorboard, "amp", limit="10"))


def test_order(opened: Page, tensorboard: TensorBoard) -> None:
    """A click on a number's head sorts the largest first, the next one the smallest; text begins with A."""
    table = ops_table(opened)
    head = table.get_by_role("columnheader", name=re.compile("^Could Gain"))
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect_names(opened, rows_of(tensorboard, "amp", sort="-gain_ns"))
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    name = table.get_by_role("columnheader", name=re.compile("^Op Name"))
    name.get_by_role("button").click()
    expect(name).to_have_attribute("aria-sort", "ascending")
    expect_names(opened, rows_of(tensorboard, "amp", sort="name"))


def test_many_rows_of_all_columns(opened: Page, tensorboard: TensorBoard) -> None:
    """Drawn in steps, those in sight first; in the end all stand in the page, in any order and with any columns."""
    section, table = ops_section(opened), ops_table(opened)

    def expect_all(columns: int, **query: str) -> None:
        answer = rows_of(tensorboard, "amp", limit="50", **query)
        expect_names(opened, answer)
        expect(table.locator("tbody td")).to_have_count(len(answer["rows"]) * columns)
        expect(section.locator("[aria-busy=true]")).to_have_count(0)

    few = table.get_by_role("columnheader").count()
    section.get_by_label("Rows").select_option("50")
    expect_all(few)
    section.get_by_role("button", name="Columns").click()
    section.get_by_role("button", name="All", exact=True).click()
    opened.keyboard.press("Escape")
    expect_all(len(OPS.columns))
    section.locator(".table-scroll").evaluate("element => element.scrollTo(0, element.scrollHeight)")
    section.get_by_role("button", name="Next page").click()
    expect_all(len(OPS.columns), offset="50")
    size = opened.viewport_size or {"width": 1280, "height": 720}
    for width in (1900, size["width"]):
        opened.set_viewport_size({"width": width, "height": size["height"]})
        expect_all(len(OPS.columns), offset="50")
        expect(table.locator("tbody tr").first.locator("td").first).to_be_visible()
        expect(table.locator("tbody tr").last.locator("td").last).to_be_visible()
    for theme, colour in (("dark", "rgb(255, 255, 255)"), ("light", "rgb(33, 33, 33)")):
        opened.emulate_media(color_scheme=theme)
        expect(opened.locator("html")).to_have_attribute("data-theme", theme)
        expect_all(len(OPS.columns), offset="50")
        for cell in table.locator("tbody tr > td:nth-child(2)").all():
            expect(cell).to_have_css("color", colour)
        expect(table.locator("tbody tr").last.locator("td").last).to_be_visible()
    table.get_by_role("columnheader", name=re.compile("^CPU Time")).get_by_role("button").click()
    expect_all(len(OPS.columns), sort="-cpu_time_ns")
    section.get_by_role("button", name="Columns").click()
    section.get_by_role("button", name="Automatic").click()
    expect_all(few, sort="-cpu_time_ns")


def test_the_focus_stays_where_rows_wait(opened: Page) -> None:
    """Another width, another theme: rows out of sight wait, but not the one with the focus, which would lose it."""
    section, table = ops_section(opened), ops_table(opened)
    section.get_by_label("Rows").select_option("100")
    section.get_by_role("button", name="Columns").click()
    section.get_by_role("button", name="All", exact=True).click()
    expect(table.locator("tbody td")).to_have_count(100 * len(OPS.columns))
    cell = table.locator("tbody tr").nth(20).locator("td").nth(2)
    width = str(table.locator("col").nth(2).get_attribute("style"))
    cell.focus()
    section.locator(".table-scroll").evaluate("element => element.scrollTo(0, element.scrollHeight)")
    opened.emulate_media(color_scheme="dark")
    expect(opened.locator("html")).to_have_attribute("data-theme", "dark")
    expect(section.locator("[aria-busy=true]")).to_have_count(0)
    expect(cell).to_be_focused()
    table.get_by_role("columnheader").nth(2).dispatch_event(
        "keydown", {"key": "ArrowRight", "shiftKey": True, "bubbles": True}
    )
    expect(table.locator("col").nth(2)).not_to_have_attribute("style", width)
    expect(section.locator("[aria-busy=true]")).to_have_count(0)
    expect(cell).to_be_focused()


def test_a_waiting_row_is_as_high_as_others(opened: Page) -> None:
    """Those in sight would move else."""
    heights = ops_table(opened).evaluate(
        """table => [...table.tBodies[0].rows].map((row) => {
            const drawn = row.getBoundingClientRect().height;
            row.classList.add("waiting-row");
            const waiting = row.getBoundingClientRect().height;
            row.classList.remove("waiting-row");
            return [drawn, waiting];
        })"""
    )
    assert heights == [[29, 29]] * 25


def test_the_table_keeps_its_height_beside_what_is_selected(opened: Page) -> None:
    """All ops of the page are shown, also beside the pane, which tells the kernels of the one that is selected."""
    opened.set_viewport_size({"width": 1280, "height": 1000})
    scroller = ops_section(opened).locator(".table-scroll")

    def height() -> float:
        return float(scroller.evaluate("element => element.clientHeight"))

    before = height()
    assert before > 550
    row = ops_table(opened).locator("tbody tr").nth(18)
    row.locator("td").nth(3).click()
    expect(opened.get_by_role("region", name=re.compile("^Kernels of"))).to_be_visible()
    expect(row).to_have_attribute("aria-selected", "true")
    expect(row).to_be_in_viewport()
    assert height() == before
    expect(opened.get_by_role("complementary").get_by_role("heading", name="Kernels")).to_be_visible()


def test_the_head_stays_while_the_page_scrolls(opened: Page) -> None:
    """Below the menu of the pages, though the table itself does not scroll."""
    head, main = ops_table(opened).get_by_role("columnheader").first, opened.locator("main")
    main.evaluate("main => main.scrollTo(0, 450)")
    expect(ops_table(opened).locator("tbody tr").first).not_to_be_in_viewport()
    expect(head).to_be_in_viewport(ratio=0.9)
    tops = [each.evaluate("element => element.getBoundingClientRect().top") for each in (head, main)]
    assert tops[0] == tops[1]


def test_the_tools_are_a_tab_stop(opened: Page) -> None:
    """Behind the title, which is a button of its own where it says what times are."""
    section = ops_section(opened)
    section.get_by_role("button", name=re.compile("per iteration")).focus()
    opened.keyboard.press("Tab")
    expect(section.get_by_label("Search ops")).to_be_focused()
    opened.keyboard.press("Tab")
    expect(section.get_by_role("button", name="Export")).to_be_focused()
    opened.keyboard.press("ArrowRight")
    expect(section.get_by_role("button", name="Columns")).to_be_focused()


def test_search_and_filters(opened: Page, tensorboard: TensorBoard) -> None:
    """Search and filters narrow the rows together, say from how many, and are cleared at once."""
    section = ops_section(opened)
    section.get_by_label("Search ops").fill("conv")
    section.get_by_label("Filter GPU Time", exact=True).fill(">50us")
    section.get_by_label("Filter On TC").fill(">50%")
    query = {"per": "iteration", "search": "conv", "where.gpu_time_ns": ">50us", "where.tensor_core_fraction": ">50%"}
    answer = rows_of(tensorboard, "amp", **query)
    assert 0 < answer["filtered"] < answer["total"]
    expect(section.get_by_role("status").filter(has_text="Showing")).to_contain_text(
        f"of {answer['filtered']:,} (filtered from {answer['total']:,})"
    )
    expect_names(opened, answer)
    section.get_by_role("button", name="Clear filters").click()
    expect_names(opened, rows_of(tensorboard, "amp"))
    expect(section.get_by_label("Search ops")).to_have_value("")


def test_nothing_found(opened: Page) -> None:
    """A search without hits says so and does not look broken."""
    ops_section(opened).get_by_label("Search ops").fill("no op is called so")
    expect(ops_section(opened)).to_contain_text("No ops match.")
    expect(ops_section(opened)).to_contain_text("Showing 0 of 0 (filtered from")


def test_a_filter_that_is_no_number(opened: Page, tensorboard: TensorBoard, complaints: list[str]) -> None:
    """A filter that cannot be understood is explained, and the rows stay."""
    ops_section(opened).get_by_label("Filter GPU Time", exact=True).fill("much")
    expect(ops_section(opened).get_by_role("alert")).to_contain_text("is not understood")
    expect_names(opened, rows_of(tensorboard, "amp"))
    complaints[:] = [each for each in complaints if "status of 400" not in each]


def test_times_are_exact_on_hover(opened: Page, tensorboard: TensorBoard) -> None:
    """A time is scaled to a readable unit; pointing at it gives every nanosecond."""
    first = rows_of(tensorboard, "amp", per="iteration")["rows"][0]
    cell = ops_table(opened).locator("tbody tr").first.locator("td .number").first
    cell.hover()
    expect(opened.get_by_role("tooltip")).to_contain_text(f"{first['gpu_time_ns']:,} ns")


def test_units_are_those_of_the_largest_row(page: Page, tensorboard: TensorBoard) -> None:
    """Means, least and most of calls are compared with each other, not with the sums beside them; a sum below the rows
    has the unit of its column. Where most rows would lose their digits the unit is the next smaller one."""
    page.goto(tensorboard.page(run="amp", view="ops") + "&p.dlprof.ops.by=kernel")
    kernels = page.get_by_role("grid", name="Kernels")
    for head in ("GPU Time (ms)", "Average (µs)", "Minimum (µs)", "Maximum (µs)"):
        expect(kernels.get_by_role("columnheader", name=head)).to_be_visible()
    expect(kernels.locator("tfoot")).to_contain_text(re.compile(r"[\d.]+ ms"))
    page.goto(tensorboard.page(run="amp", view="timeline"))
    gaps = page.get_by_role("grid", name="Every Gap")
    expect(gaps.get_by_role("columnheader", name="Length (ms)")).to_be_visible()
    # The short ones are listed once they are asked for.
    expect(gaps.locator("tbody tr")).to_have_count(1)
    page.get_by_role("region", name="Every Gap").get_by_role("button", name="Show").click()
    expect(gaps.get_by_role("columnheader", name="Length (µs)")).to_be_visible()
    expect(gaps.get_by_role("gridcell", name="0.700", exact=True)).not_to_have_count(0)


def test_sums_of_a_part_of_the_rows_are_not_called_those_of_all(page: Page, tensorboard: TensorBoard) -> None:
    """Short gaps that are left out take time, too; so do groups that a search leaves out."""
    page.goto(tensorboard.page(run="amp", view="timeline", timeline__from="160000000", timeline__to="230000000"))
    gaps = page.get_by_role("region", name="Every Gap")
    expect(gaps.locator("tfoot")).to_contain_text(re.compile(r"^\d+ of [\d,]+"))
    gaps.get_by_role("button", name="Show").click()
    expect(gaps.locator("tfoot")).to_contain_text(re.compile(r"^All [\d,]+"))
    groups = page.get_by_role("region", name="Gaps by Cause and Op")
    expect(groups.locator("tfoot")).to_contain_text(re.compile(r"^All \d+"))
    groups.get_by_role("searchbox", name="Search groups").fill("conv2d")
    expect(groups.locator("tfoot")).to_contain_text(re.compile(r"^\d+ of \d+"))


def test_sums_stay_in_sight_only_below_a_few_rows(page: Page, tensorboard: TensorBoard) -> None:
    """Where the table begins at the fold, sums that stay would lie on its head or on its only rows."""
    page.set_viewport_size({"width": 1280, "height": 640})
    page.goto(tensorboard.page(run="amp", view="iterations"))
    table = page.get_by_role("grid", name="Kernels Launched in Iteration 3")
    last = table.locator("tbody tr").last
    sums = table.locator("tfoot")
    expect(last).to_be_visible()

    def below(upper: Locator) -> bool:
        above, box = upper.bounding_box(), sums.bounding_box()
        return above is not None and box is not None and box["y"] >= above["y"] + above["height"] - 1

    assert below(last)
    page.mouse.move(600, 400)
    page.mouse.wheel(0, 260)
    expect(sums).to_have_css("position", "sticky")
    expect(sums).to_be_in_viewport()
    assert below(table.locator("tbody tr").nth(2))
    assert not below(last)


def test_a_row_shows_its_kernels(opened: Page, tensorboard: TensorBoard) -> None:
    """Selecting an op by mouse fills the table of its kernels."""
    op = rows_of(tensorboard, "amp")["rows"][1]["op_id"]
    ops_table(opened).locator("tbody tr").nth(1).click()
    kernels = tensorboard.get(
        "table", profile=tensorboard.profile("amp")["id"], table="kernels_of_op", op=op, limit="10"
    )
    names = opened.get_by_role("grid", name=re.compile(f"^Kernels of .* {op}$")).locator("tbody .kernel-name")
    expect(names).to_have_count(len(kernels["rows"]))
    for i, row in enumerate(kernels["rows"]):
        expect(names.nth(i)).to_have_attribute("data-tip", row["long_name"] or row["name"])


def test_keyboard_selects_and_copies(opened: Page, tensorboard: TensorBoard) -> None:
    """Arrow keys walk over the cells, Enter selects the row, Ctrl+C copies the cell in full."""
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rows = rows_of(tensorboard, "amp")["rows"]
    ops_table(opened).locator("tbody td[tabindex='0']").focus()
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("Enter")
    expect(ops_table(opened).locator("tbody tr").nth(1)).to_have_attribute("aria-selected", "true")
    opened.keyboard.press("Control+c")
    expect(opened.get_by_text("Copied", exact=True).first).to_be_visible()
    assert opened.evaluate("navigator.clipboard.readText()") == rows[1]["name"]
    opened.keyboard.press("PageDown")
    expect_names(opened, rows_of(tensorboard, "amp", offset="25"))
    expect(ops_table(opened).locator("tbody tr").nth(1).locator("td").first).to_be_focused()
    opened.keyboard.press("PageUp")
    expect_names(opened, rows_of(tensorboard, "amp"))


def test_escape_undoes_the_selection(opened: Page) -> None:
    """Esc on a row closes what the selected row opened, and the focus stays in the table."""
    ops_table(opened).locator("tbody td[tabindex='0']").focus()
    opened.keyboard.press("Enter")
    expect(opened.get_by_role("heading", name=re.compile("^Kernels of"))).to_be_visible()
    opened.keyboard.press("Escape")
    expect(opened.get_by_role("heading", name=re.compile("^Kernels of"))).to_have_count(0)
    expect(ops_table(opened).locator('tr[aria-selected="true"]')).to_have_count(0)
    expect(ops_table(opened).locator("tbody td[tabindex='0']")).to_be_focused()


def test_columns_hide_and_resize(opened: Page) -> None:
    """A column can be hidden and stays so after a reload; the arrow keys make one wider."""
    table = ops_table(opened)
    opened.get_by_role("button", name="Columns").first.click()
    opened.get_by_role("group", name="Columns to show").get_by_label("CPU Time").uncheck()
    expect(table.get_by_role("columnheader", name=re.compile("^CPU Time"))).to_have_count(0)
    opened.reload()
    expect(paths(opened).first).to_be_visible()
    expect(table.get_by_role("columnheader", name=re.compile("^CPU Time"))).to_have_count(0)
    head = table.get_by_role("columnheader", name="Op Name")
    before = head.bounding_box()
    head.get_by_role("button").focus()
    opened.keyboard.press("Shift+ArrowRight")
    after = head.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] == pytest.approx(before["width"] + 16, abs=1)


@pytest.mark.parametrize("real_run", ["dlprof"], indirect=True)
def test_long_stack_traces_fold(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """A stack trace of more than 100 characters is cut until See more is pressed."""
    page.goto(tensorboard.page(run=real_run, view="ops", ops__columns="name,stack_trace"))
    expect(paths(page).first).to_be_visible()
    row = ops_table(page).locator("tbody tr").first
    folded = row.locator(".long-text").inner_text()
    assert len(folded) < 130
    row.get_by_role("button", name="See more").click()
    expect(row.get_by_role("button", name="See less")).to_be_visible()
    expect(row.locator(".long-text")).to_contain_text(re.compile(f"[^…]{{{len(folded)},}}"))
    expect(row).to_have_attribute("aria-selected", "false")


def test_a_link_to_an_op_shows_that_op_alone(page: Page, tensorboard: TensorBoard) -> None:
    """Ops whose ids begin as its own, CONV2D_10 beside CONV2D_1, are not among what a link to it shows."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__row="CONV2D_1"))
    page.locator(".details-pane").get_by_role("link", name="Efficiency").click()
    rated = page.get_by_role("grid", name="Ops by Possible Gain").locator("tbody tr")
    expect(rated).to_have_count(1)
    expect(rated).to_have_attribute("aria-selected", "true")
    page.locator(".efficiency .details-pane").get_by_role("link", name="Kernels").click()
    expect(paths(page)).to_have_count(1)
    expect(page.get_by_role("heading", name=re.compile("^Kernels of .* CONV2D_1$"))).to_be_visible()


@pytest.mark.parametrize("real_run", ["dlprof"], indirect=True)
def test_causes_in_dlprofs_own_database(page: Page, logdir: Path, real_run: str, tmp_path: Path) -> None:
    """The table of ops asks for them itself where no other view has; what was typed and ordered meanwhile stays."""
    database = Path(shutil.copy(logdir / real_run / "dlprof_dldb.sqlite", tmp_path))
    with viewing(database, tmp_path / "cache") as viewer:
        page.goto(viewer.page(view="ops", ops__sort="op_id", ops__search="conv2d"))
        expect(ops_table(page).get_by_role("columnheader", name="Why Not on TC")).to_be_visible()
        expect(ops_table(page).locator("tbody tr").filter(has_text="CONV2D_1")).to_contain_text("FP32 tensors")
        expect_names(page, rows_of(viewer, ".", sort="op_id", search="conv2d"))
        expect(page.get_by_role("alert")).to_have_count(0)


def test_without_gpu_work_the_longest_on_the_cpu_comes_first(page: Page, tensorboard: TensorBoard) -> None:
    """Where no op has GPU time, an order by it would say nothing; types of ops are ordered alike."""
    page.goto(tensorboard.page(run="cpu", view="ops", ops__by="none"))
    expect(paths(page).first).to_be_visible()
    expect_names(page, rows_of(tensorboard, "cpu", sort="-cpu_time_ns"))
    page.goto(tensorboard.page(run="cpu", view="ops", ops__by="type"))
    head = page.get_by_role("columnheader", name="Total CPU Time")
    expect(head).to_have_attribute("aria-sort", "descending")


def test_filters_stand_where_more_than_ten_rows_are_listed(page: Page, tensorboard: TensorBoard) -> None:
    """Rows that are left out as they took no time are not counted until they are shown."""
    if shared_data_or_none() is None:
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    page.goto(tensorboard.page(run="dlprof", view="ops"))
    section = page.get_by_role("region", name="Ops by Path", exact=True)
    expect(section.locator("tbody tr").first).to_be_visible()
    expect(section.locator(".filter-row")).to_have_count(0)
    section.get_by_role("button", name="Show", exact=True).click()
    expect(section.locator(".filter-row")).to_be_visible()


def test_what_repeats_is_folded_and_what_is_part_is_marked(page: Page, tensorboard: TensorBoard) -> None:
    """Calls that equal the ops stand in a line, sums of gains say what they count, the largest share is full."""
    if shared_data_or_none() is None:
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    page.goto(tensorboard.page(run="dlprof", view="ops"))
    table = page.get_by_role("grid", name="Ops by Path")
    expect(table.get_by_role("columnheader", name="Ops", exact=True)).to_be_visible()
    calls = table.get_by_role("columnheader", name="Calls")
    expect(calls).to_have_count(0)
    expect(table.locator("tfoot")).to_contain_text(re.compile(r"\* [\d.]+\sµs"))
    expect(page.locator(".table-note")).to_contain_text("* Counts only the ops whose work is known.")
    shares = table.locator("tbody td.bar-cell:not(.bar-plain)")
    bars = shares.evaluate_all("cells => cells.map((cell) => +getComputedStyle(cell).getPropertyValue('--bar'))")
    assert max(bars) == bars[0] == 1
    share = table.get_by_role("columnheader", name="Share").get_by_role("button")
    expect(share).to_have_attribute("data-tip", re.compile("largest row shown"))
    folded = page.locator(".table-folded")
    expect(folded).to_contain_text("The same as Ops: Calls")
    folded.get_by_role("button", name="Unfold").click()
    expect(calls).to_be_visible()
