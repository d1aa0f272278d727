"""Efficiency: the roofline, what could be gained, and honest words where nothing is known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.browser.conftest import REAL, sample
from tests.browser.serving import TensorBoard
from tests.browser.test_accessibility import check
from tests.browser.test_dashboard import panel, percent
from tests.reports.test_limits import legend_of
from tests.reports.writing import page_of
from tests.shared_data import shared_data_or_none


def efficiency_of(tensorboard: TensorBoard, run: str) -> dict[str, Any]:
    """What the server answers for the only profile of a run."""
    return dict(tensorboard.get("efficiency", profile=tensorboard.profile(run)["id"]))


def plot(page: Page) -> Locator:
    """The roofline itself."""
    return page.get_by_role("group", name=re.compile("^Roofline of"))


def name_of(path: str, ops: int = 1) -> str:
    """What the panel of an op, or of several that are alike, is called."""
    return path.rpartition("/")[2] + (f" ×{ops:,}" if ops > 1 else "")


def causes(page: Page) -> Locator:
    """The causes for which eligible ops do not use Tensor Cores well."""
    return panel(page, "How Kernel Time Is Spent").get_by_role("list", name="Why not on Tensor Cores")


def groups_of(dots: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The ops of each dot, the largest first: those of one path, direction and precision, the longest first."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for dot in sorted(dots, key=lambda each: -each["kernel_ns"]):
        groups.setdefault((dot["precision"], dot["pattern"], dot["direction"]), []).append(dot)
    return sorted(groups.values(), key=lambda group: -sum(each["kernel_ns"] for each in group))


def check_efficiency(page: Page, answer: dict[str, Any], in_graphs: bool = False) -> None:
    """The sentence, the dots, the roofs, the precisions and the causes are those of the answer.

    Where most of the time is in CUDA graphs recorded as a whole, the page says how to see the kernels in them, and
    nothing of Tensor Cores.
    """
    if not answer["precisions"]:
        expect(page.get_by_role("main")).to_contain_text("Nothing is known about the efficiency of ops")
        expect(page.get_by_role("main")).to_contain_text(answer["hint"] or re.compile("record", re.IGNORECASE))
        return
    heading = page.locator(".headline h2")
    # Of products of which shapes are missing, a share too small to name is not named.
    share = answer["mfu_fraction"]
    measured = answer["measured_fraction"]
    if answer["product_flops"] and measured is not None and measured < 0.5:
        expect(page.locator(".headline")).to_contain_text(f"shapes cover {percent(measured)}")
    elif share is not None and (share >= 0.0005 or answer["measured_fraction"] >= 0.995):
        expect(heading).to_contain_text(percent(share))
    elif not answer["product_flops"]:
        expect(page.locator(".headline")).to_contain_text("How much was computed is not known.")
    if answer["product_flops"] and share is None:
        # A rate alone is no answer: it stands below what is known.
        expect(heading).to_contain_text("Of the kernel time")
    # Without roofs, dots of less than half of the time are not drawn.
    timed = sum(each["kernel_ns"] for each in answer["precisions"])
    if answer["dots"] and (answer["peaks"] or 2 * sum(dot["kernel_ns"] for dot in answer["dots"]) >= timed):
        expect(plot(page).locator(".dot")).to_have_count(len(groups_of(answer["dots"])))
        if any(peak["unit"] == "memory" for peak in answer["peaks"]):
            expect(plot(page).get_by_text(re.compile("^Memory .*B/s$"))).to_be_visible()
        else:
            expect(panel(page, "Roofline")).to_contain_text("No roofs")
    else:
        expect(plot(page)).to_have_count(0)
        hint = "nsys profile --cuda-graph-trace=node" if in_graphs else answer["hint"]
        expect(page.get_by_role("main")).to_contain_text(hint)
    for each in answer["missing"]:
        if each["hint"] == answer["hint"]:
            continue
        expect(panel(page, "Not Known Here")).to_contain_text(each["what"])
        expect(panel(page, "Not Known Here")).to_contain_text(each["hint"])
    use = panel(page, "Whole Network")
    for name, label in (("memory", "Memory throughput"), ("achieved", "Occupancy, achieved")):
        # A mean over less than half of the kernel time tells nothing of the network.
        known = (answer["network"][f"{name}_known_ns"] or 0) >= timed / 2
        expected = percent(answer["network"][f"{name}_fraction"]) if known and not in_graphs else "unknown"
        expect(use.locator(".rate-meter", has_text=label)).to_contain_text(expected)
    # What is in graphs is no kernel time, of which the table below has a column.
    titled = "Kernel and CUDA Graph Time" if in_graphs else "Kernel Time"
    precisions = panel(page, f"{titled} by Precision").locator("li:has(.swatch)")
    expect(precisions).to_have_count(len(answer["precisions"]) + in_graphs)
    total = sum(each["kernel_ns"] for each in answer["precisions"])
    # Next to the graphs, in which nobody knows a precision, the kernels outside of them are next to nothing.
    largest = "CUDA graphs" if in_graphs else percent(answer["precisions"][0]["kernel_ns"] / total)
    expect(precisions.filter(has_text=largest).first).to_be_visible()
    on_units = sum(each["kernel_ns"] for each in answer["precisions"] if each["matrix_unit"] == "yes")
    expected = "unknown" if in_graphs else percent(on_units / total)
    expect(use.locator(".rate-meter", has_text="kernels, of kernel ")).to_contain_text(expected)


@pytest.mark.parametrize("run", ["amp", "ddp/rank0", "cpu"])
def test_efficiency_of_the_samples(page: Page, tensorboard: TensorBoard, run: str) -> None:
    """What the page shows of a sample is what the server answers."""
    page.goto(tensorboard.page(run=run, view="efficiency"))
    check_efficiency(page, efficiency_of(tensorboard, run))


@pytest.mark.parametrize("real_run", [*REAL, "dlprof"], indirect=True)
def test_efficiency_of_real_profiles(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """What the page shows of a real profile is the answer; without shapes it says what would bring them."""
    page.goto(tensorboard.page(run=real_run, view="efficiency"))
    check_efficiency(page, efficiency_of(tensorboard, real_run), in_graphs=real_run == "cuda_graphs")


def test_what_dlprofs_own_data_gives(page: Page, tensorboard: TensorBoard) -> None:
    """Its database holds shapes of some ops, and neither registers nor shared memory: the page shows and says both."""
    if shared_data_or_none() is None:
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    page.goto(tensorboard.page(run="dlprof", view="efficiency", eff__by="none"))
    expect(plot(page).locator(".dot")).to_have_count(2)
    expect(causes(page)).to_contain_text("FP32 tensors")
    expect(panel(page, "Not Known Here")).to_contain_text("neither registers nor shared memory")
    # What the convolutions could gain is not known, and they take most of the time.
    rows = page.get_by_role("grid", name="Ops by Kernel Time").locator("tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.first).to_contain_text("conv2d")
    rows.first.locator("td").first.click()
    expect(
        page.locator(".side-column, .efficiency-row").locator(".rate-meter", has_text="Occupancy, theoretical")
    ).to_contain_text("unknown")


def test_utilisation_by_iteration(page: Page, tensorboard: TensorBoard) -> None:
    """A bar for each iteration of which it is known, its number below its middle."""
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    known = [each for each in efficiency_of(tensorboard, "amp")["iterations"] if each["mfu_fraction"] is not None]
    chart = page.locator("svg.mfu")
    bars = chart.locator("rect")
    expect(bars).to_have_count(len(known))
    for place, each in enumerate(known):
        bar, text = bars.nth(place), chart.get_by_text(f"{each['iteration']:,}", exact=True)
        expect(bar).to_have_attribute("data-tip", re.compile(re.escape(percent(each["mfu_fraction"]))))
        over, below = bar.bounding_box(), text.bounding_box()
        assert over is not None
        assert below is not None
        assert below["y"] >= over["y"] + over["height"]
        assert abs((over["x"] + over["width"] / 2) - (below["x"] + below["width"] / 2)) <= 1


@pytest.mark.parametrize("width", [320, 480, 1280])
def test_labels_of_roofs_stand_within_the_chart(page: Page, tensorboard: TensorBoard, width: int) -> None:
    """However narrow: none crosses the axis at their left."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    labels = plot(page).locator(".roof-label[text-anchor=end]")
    expect(labels.first).to_be_visible()
    axis = plot(page).locator(".grid-line").first.bounding_box()
    assert axis is not None
    places = [label.bounding_box() for label in labels.all()]
    assert all(place is not None and place["x"] >= axis["x"] for place in places)
    expect(labels.first).to_contain_text("TC" if width == 320 else "Tensor Cores")


def test_the_largest_dots_have_numbers_and_names(page: Page, tensorboard: TensorBoard) -> None:
    """The names stand below the chart, which ends above the fold of a laptop; one selects its dot."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    largest = groups_of(efficiency_of(tensorboard, "amp")["dots"])[0]
    rows = tensorboard.get("table", profile=tensorboard.profile("amp")["id"], table="op_paths", limit="100")["rows"]
    assert (largest[0]["pattern"], largest[0]["direction"], len(largest)) in {
        (row["name"], row["direction"], row["ops"]) for row in rows
    }
    names = page.get_by_role("list", name="The largest").get_by_role("button")
    expect(names).to_have_count(5)
    expect(plot(page).locator(".dot-number")).to_have_text(["1", "2", "3", "4", "5"])
    passed = {"forward": "fwd", "backward": "bwd"}[largest[0]["direction"]]
    expect(names.first).to_contain_text(f"{name_of(largest[0]['pattern'])} {passed} ×{len(largest)}")
    over = plot(page).bounding_box()
    assert over is not None
    assert over["y"] + over["height"] <= 800
    names.first.click()
    expect(plot(page).locator("circle.dot-selected")).to_have_count(1)
    expect(panel(page, name_of(largest[0]["name"], len(largest)))).to_be_visible()
    # The card of a dot holds all that it says, and does not cover what a click on the dot shows.
    dot = plot(page).locator("circle.dot-selected").bounding_box()
    assert dot is not None
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + 2)
    card = page.locator(".hover-card")
    expect(card).to_be_visible()
    assert card.evaluate("element => element.scrollWidth <= element.clientWidth")
    page.mouse.down()
    page.mouse.up()
    expect(card).to_have_count(0)


WATCH_WIDTHS = """() => {
    let frame = 0;
    const count = () => { frame += 1; requestAnimationFrame(count); };
    requestAnimationFrame(count);
    window.drawnIn = {};
    const watch = (name, selector, attribute) => new MutationObserver(() => { window.drawnIn[name] ??= frame; })
        .observe(document.querySelector(selector), {attributes: true, attributeFilter: [attribute]});
    watch("roofline", ".roofline-plot svg", "width");
    watch("bars", "svg.mfu", "width");
    watch("table", "section.data-table table", "style");
}"""


def test_what_another_width_changes_is_drawn_in_a_frame_each(page: Page, tensorboard: TensorBoard) -> None:
    """Roofline, bars and table: all in one would hold the browser for as long as they take together."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    expect(page.locator("section.data-table tbody tr").first).to_be_visible()
    page.evaluate(WATCH_WIDTHS)
    page.set_viewport_size({"width": 1000, "height": 900})
    page.wait_for_function("Object.keys(drawnIn).length === 3")
    frames = page.evaluate("Object.values(drawnIn)")
    assert len(set(frames)) == len(frames)


def test_dots_by_keyboard(page: Page, tensorboard: TensorBoard) -> None:
    """The arrow keys read the dots from the longest on; Enter selects one, which the table and the panel show."""
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    group = groups_of(efficiency_of(tensorboard, "amp")["dots"])[0]
    longest = group[0]
    plot(page).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".hover-card")).to_contain_text(longest["name"].rpartition("/")[2])
    expect(page.locator(".roofline [role=status]")).to_contain_text(longest["op_id"])
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".hover-card")).to_have_count(0)
    selected = panel(page, name_of(longest["name"], len(group)))
    expect(selected).to_contain_text("Memory throughput")
    page.reload()
    expect(plot(page).locator("circle.dot-selected")).to_have_count(1)
    selected.get_by_role("link", name="Longest op").click()
    page.get_by_role("complementary").get_by_role("link", name="Kernels").click()
    expect(page.get_by_role("heading", name=re.compile(f"^Kernels of .* {longest['op_id']}$"))).to_be_visible()


def test_a_row_selects_its_dot(page: Page, tensorboard: TensorBoard) -> None:
    """A row of the table, the largest gain first, marks its dot; numbers are formatted."""
    page.goto(tensorboard.page(run="amp", view="efficiency", eff__by="none"))
    grid = page.get_by_role("grid", name="Ops by Possible Gain")
    row = grid.locator("tbody tr").first
    op = tensorboard.get("table", profile=tensorboard.profile("amp")["id"], table="efficiency", limit="1")["rows"][0]
    expect(row).to_contain_text(op["name"].rpartition("/")[2])
    expect(row).to_contain_text(re.compile(r"\d [kMGT]"))
    row.locator("td").first.click()
    expect(plot(page).locator("circle.dot-selected")).to_have_count(1)
    selected = page.get_by_role("complementary", name=f"{name_of(op['name'])} {op['direction']}")
    expect(selected).to_contain_text(op["op_id"])
    # Its bars carry the means of the network.
    expect(selected.locator(".rate-track > i").first).to_be_visible()
    expect(selected).to_contain_text(op["size"].replace("->", "→").replace(" x ", " × "))


def test_a_group_selects_its_dot(page: Page, tensorboard: TensorBoard) -> None:
    """A row of the groups marks the dot of its ops and shows their means beside it, in sight; the groups stay."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    grid = page.get_by_role("grid", name="Groups by Possible Gain")
    # What the page is about gives way last of the numbers.
    expect(grid.get_by_role("columnheader", name="Kernel Time")).to_be_visible()
    row = grid.locator("tbody tr").first
    profile = tensorboard.profile("amp")["id"]
    (group,) = tensorboard.get("table", profile=profile, table="op_paths", sort="-gain_ns", limit="1")["rows"]
    assert group["ops"] > 1
    row.locator("td").first.click()
    expect(plot(page).locator(".dot-selected")).to_have_count(1)
    expect(row).to_have_attribute("aria-selected", "true")
    name = f"{name_of(group['name'])} {group['direction']}"
    shown = page.get_by_role("complementary", name=f"{name} ×{group['ops']:,}")
    # But for a part of a pixel.
    expect(shown).to_be_in_viewport(ratio=0.99)
    expect(row).to_be_in_viewport()
    expect(panel(page, "Whole Network")).to_have_count(1)
    expect(shown).to_contain_text(f"{group['ops']:,} ops alike.")
    if group["peak_fraction"] is not None:
        expect(shown.locator(".rate-meter", has_text="Compute")).to_contain_text(percent(group["peak_fraction"]))
    shown.get_by_role("button", name="Close").click()
    expect(shown).to_have_count(0)
    expect(plot(page).locator(".dot-selected")).to_have_count(0)
    row.locator("td").first.click()
    shown.get_by_role("link", name="Show all").click()
    expect(page.get_by_role("grid", name=f"Ops of {name}").locator("tbody tr").first).to_be_visible()


def test_a_precision_hides_its_dots(page: Page, tensorboard: TensorBoard) -> None:
    """An entry of the legend takes its dots away, and the URL keeps it."""
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    dots = efficiency_of(tensorboard, "amp")["dots"]
    rest = [dot for dot in dots if dot["precision"] != "fp32"]
    assert 0 < len(rest) < len(dots)
    page.get_by_role("button", name=re.compile("^FP32")).click()
    expect(plot(page).locator(".dot")).to_have_count(len(groups_of(rest)))
    page.reload()
    expect(plot(page).locator(".dot")).to_have_count(len(groups_of(rest)))


def test_a_cause_narrows_the_table(page: Page, tensorboard: TensorBoard) -> None:
    """A cause shows its ops in the table; pressed again, all of them."""
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    cause = efficiency_of(tensorboard, "amp")["causes"][0]
    entry = causes(page).get_by_role("button").first
    expect(entry).to_contain_text(f"{cause['label']} {cause['ops']} op")
    entry.click()
    expect(page.get_by_text(re.compile(rf"of {cause['ops']} ")).first).to_be_visible()
    expect(entry).to_have_attribute("aria-pressed", "true")
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")


def test_a_cause_on_the_dashboard_opens_its_ops(page: Page, tensorboard: TensorBoard) -> None:
    """What limits the use of Tensor Cores stands there; a click lists the ops in Efficiency."""
    page.goto(tensorboard.page(run="amp"))
    cause = efficiency_of(tensorboard, "amp")["causes"][0]
    panel(page, "Kernel Time by Precision").get_by_role("link", name=cause["label"]).click()
    entry = causes(page).get_by_role("button", name=cause["label"])
    expect(entry).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text(re.compile(rf"of {cause['ops']} ")).first).to_be_visible()


def test_the_dashboard_shows_precisions(page: Page, tensorboard: TensorBoard) -> None:
    """The Dashboard has the precisions of kernel time too, and leads to the page."""
    page.goto(tensorboard.page(run="amp"))
    shown = panel(page, "Kernel Time by Precision")
    expect(shown.locator("li:has(.swatch)")).to_have_count(len(efficiency_of(tensorboard, "amp")["precisions"]))
    shown.get_by_role("link", name="Efficiency").click()
    expect(panel(page, "Roofline")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["amp", "cpu"])
def test_accessible(page: Page, tensorboard: TensorBoard, run: str, scheme: Literal["light", "dark"]) -> None:
    """axe finds no serious fault."""
    page.emulate_media(color_scheme=scheme)
    page.goto(tensorboard.page(run=run, view="efficiency"))
    expect(page.locator(".panel, .message-text").first).to_be_visible()
    check(page)


def test_groups_come_first_and_single_ops_where_they_are_asked_for(page: Page, tensorboard: TensorBoard) -> None:
    """The layers of a network are one row; the choice of no groups leads to ops, and back; a dot keeps them."""
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    groups = page.get_by_role("grid", name="Groups by Possible Gain")
    ops = page.get_by_role("grid", name="Ops by Possible Gain")
    profile = tensorboard.profile("amp")["id"]
    (largest,) = tensorboard.get("table", profile=profile, table="op_paths", sort="-gain_ns", limit="1")["rows"]
    expect(groups.locator("tbody tr").first).to_contain_text(f"{largest['ops']:,}")
    gains = [
        row["gain_ns"] for row in tensorboard.get("table", profile=profile, table="efficiency", limit="1000")["rows"]
    ]
    answer = efficiency_of(tensorboard, "amp")
    assert answer["gain_ns"] == pytest.approx(sum(gain or 0 for gain in gains))
    share = answer["gain_ns"] / sum(each["kernel_ns"] for each in answer["precisions"])
    expect(page.locator(".headline")).to_contain_text(f"of kernel time an iteration, {percent(share)} of all")
    choice = page.get_by_role("group", name="Group by")
    choice.get_by_role("button", name="None").click()
    expect(ops).to_be_visible()
    choice.get_by_role("button", name="Path").click()
    expect(groups).to_be_visible()
    plot(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(plot(page).locator(".dot-selected")).to_have_count(1)
    expect(groups).to_be_visible()


def test_a_report_tells_the_same_of_the_kernel_time(page: Page, tensorboard: TensorBoard, tmp_path: Path) -> None:
    """Its parts in their order, with their shares, and the time of an iteration."""
    database = tmp_path / "amp.dlprof_dldb.sqlite"
    import_source(
        sample("generated-resnet50-amp.pt.trace.json.gz"), database, ImportOptions(), lambda _stage, _fraction: None
    )
    report = page_of(database)
    page.goto(tensorboard.page(run="amp", view="efficiency"))
    spent = panel(page, "How Kernel Time Is Spent")
    entries = [f"{name} {amount.partition(', ')[2]}" for name, amount in legend_of(report).items()]
    expect(spent.locator(".bar-legend li")).to_have_text(entries, use_inner_text=True)
    whole = (
        spent.locator(".panel-tools").inner_text().split(" of ")[-1].removeprefix("of ").removesuffix(" kernel time")
    )
    assert f"<p>All {whole} of an iteration, each part once.</p>" in report
