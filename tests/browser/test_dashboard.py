"""The Dashboard shows what the server answers, on samples and on real profiles."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import IMPORTED_SAMPLES, REAL
from tests.browser.serving import TensorBoard, viewing
from tests.waiting import wait_for

NAMES: dict[str, str | re.Pattern[str]] = {
    "unknown_kernel": re.compile("^(Unknown kernels(, graphs)?|In CUDA graphs)$"),
    "other_kernel": re.compile("^Other kernels( and collectives)?$"),
    "memory": "Memory",
    "data_loader": "Data loader",
    "io": "I/O",
    "cpu": "CPU, ops and calls",
    "other": "Other, unrecorded",
}


def panel(page: Page, title: str) -> Locator:
    """The panel of that title."""
    return page.get_by_role("region", name=title, exact=True)


def exact(ns: int) -> str:
    """Every nanosecond, as tooltips give them."""
    return f"{ns:,} ns"


def percent(fraction: float) -> str:
    """A share as the screen rounds it."""
    if 0 < fraction < 0.0005:
        return "<0.1 %"
    if 0.9995 <= fraction < 1:
        return ">99.9 %"
    return f"{fraction:.0%}".replace("%", " %") if fraction in (0, 1) else f"{fraction * 100:.1f} %"


def tip_of(locator: Locator) -> str:
    """The text of the tooltip."""
    return locator.get_attribute("data-tip") or ""


def nanoseconds(entry: Locator) -> int:
    """The exact time in the tooltip of an entry."""
    (time_ns,) = re.findall(r"([\d,]+) ns[^\n]* of ", tip_of(entry))
    return int(time_ns.replace(",", ""))


def is_recorded(part: dict[str, Any], data: dict[str, Any]) -> bool:
    """Whether a recording can hold time of this class; only then 0 means none."""
    recorded, on_gpu = data["recorded"], {"tensor_core", "unknown_kernel", "other_kernel", "memory"}
    if recorded is None or part["time_ns"]:
        return True
    if part["resource"] in on_gpu:
        return any(each["time_ns"] for each in data["resource_breakdown"] if each["resource"] in on_gpu)
    needed = {"io": {"io"}, "data_loader": {"ops", "nvtx"}}.get(part["resource"])
    return needed is None or not needed.isdisjoint(recorded)


def check_dashboard(page: Page, data: dict[str, Any]) -> None:
    """Every number of the answer stands where the screen promises it."""
    unit = data["matrix_unit"]
    facts = panel(page, "Performance Summary").locator(".fact")
    expect(facts).to_have_count(6)

    def fact(term: str) -> Locator:
        return facts.filter(has=page.get_by_text(term, exact=True)).or_(facts.filter(has_text=term)).first.locator("dd")

    performance = data["performance"]
    assert exact(performance["wall_clock_ns"]) in tip_of(fact("Wall Clock").locator(".number"))
    assert exact(performance["average_iteration_ns"]) in tip_of(fact("Average Iteration").locator(".number"))
    for term, key in (
        ("Profiled", "profiled_iterations"),
        ("Total Iterations", "total_iterations"),
        ("Start", "iter_start"),
        ("Stop", "iter_stop"),
    ):
        expect(fact(term)).to_have_text(f"{performance[key]:,}")
    for term, key in (("GPU Utilization", "gpu_utilization"), (f"{unit} Kernel Efficiency", "tensor_core_efficiency")):
        fraction = data[key]["fraction"]
        # The panel of this name, in whose middle it stands: no number of DLProf's stands twice beside each other.
        expect(fact(term)).to_have_count(0)
        if fraction is not None:
            expect(panel(page, term).locator(".donut-value")).to_have_text(percent(fraction))

    used = data["gpu_utilization"]["fraction"]
    if used is not None:
        (copies,) = (part["fraction"] or 0 for part in data["resource_breakdown"] if part["resource"] == "memory")
        idle = panel(page, "GPU Utilization").get_by_role("button", name=re.compile("^Idle GPU"))
        expect(idle.locator(".legend-share")).to_have_text(percent(1 - used - copies))

    entries = panel(page, "Resource Usage Breakdown").locator(".legend-entry")
    # DLProf counts communication among other kernels.
    exposed = entries.filter(has_text="Exposed communication")
    breakdown = entries.filter(has_not_text="Exposed communication")
    (untold,) = (part["time_ns"] for part in data["resource_breakdown"] if part["resource"] == "unknown_kernel")
    parts = [part for part in data["resource_breakdown"] if part["resource"] != "unknown_kernel" or untold]
    on_units = re.compile(f"^{unit}s{', at.least' if untold and parts[0]['time_ns'] else ''}$")
    expect(breakdown.locator(".legend-label")).to_have_text(
        [NAMES.get(part["resource"], on_units) for part in parts],
    )
    for i, part in enumerate(parts):
        if part["time_ns"] is None:
            is_untold = part["resource"] == "tensor_core" and bool(untold)
            assert is_untold or not is_recorded(part, data)
            expect(breakdown.nth(i).locator(".legend-value")).to_have_text("unknown" if is_untold else "not recorded")
            continue
        assert is_recorded(part, data)
        if part["resource"] == "other_kernel" and exposed.count():
            assert nanoseconds(breakdown.nth(i)) + nanoseconds(exposed) == part["time_ns"]
            continue
        expect(breakdown.nth(i).locator(".legend-share")).to_have_text(percent(part["fraction"]))
        assert part["time_ns"] < 1000 or exact(part["time_ns"]) in tip_of(breakdown.nth(i))

    kernels = panel(page, "Total Kernel GPU Time")
    for label, key in ((f"Using {unit}s", "tensor_core"), ("Memory", "memory"), ("All other kernels", "other_kernel")):
        if data["kernel_time"]["total"]["time_ns"]:
            entry = kernels.get_by_role("button", name=re.compile(f"^{label}"))
            time_ns = data["kernel_time"][key]["time_ns"]
            if key == "other_kernel" and data["collective_ns"]:
                time_ns -= data["collective_ns"]
                apart = kernels.get_by_role("button", name=re.compile("^Communication"))
                assert exact(data["collective_ns"]) in tip_of(apart)
            assert time_ns in (0, None) or exact(time_ns) in tip_of(entry)

    page.get_by_text("System, guidance, and what this recording holds").click()
    for entry in data["system"]:
        expect(panel(page, "System Configuration").get_by_text(entry["value"], exact=True).first).to_be_visible()
    for note in data["coverage"]["notes"]:
        expect(panel(page, "What This Recording Holds")).to_contain_text(note["message"])


@pytest.mark.parametrize("run", IMPORTED_SAMPLES)
def test_numbers_of_the_samples(page: Page, tensorboard: TensorBoard, run: str) -> None:
    """What the Dashboard shows of a sample is what the server answers."""
    page.goto(tensorboard.page(run=run))
    check_dashboard(page, tensorboard.dashboard(run))


@pytest.mark.parametrize("real_run", [*REAL, "dlprof"], indirect=True)
def test_numbers_of_real_profiles(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """What the Dashboard shows of a real profile is what the server answers."""
    page.goto(tensorboard.page(run=real_run))
    check_dashboard(page, tensorboard.dashboard(real_run))


def test_kernel_details_open_and_close(page: Page, tensorboard: TensorBoard) -> None:
    """The button opens the pane with times and counts; Esc closes it and gives the focus back; X closes it too."""
    page.goto(tensorboard.page(run="amp"))
    button = page.get_by_role("button", name="Kernel Details")
    button.click()
    pane = page.get_by_role("complementary", name="Kernel Details")
    total = tensorboard.dashboard("amp")["kernel_time"]["total"]
    first = pane.locator("tbody tr").first
    expect(first.locator("td").nth(2)).to_have_text(f"{total['launches']:,}")
    expect(first.locator("td").nth(3)).to_have_text(f"{total['names']:,}")
    assert exact(total["time_ns"]) in tip_of(first.locator(".number").first)
    page.keyboard.press("Escape")
    expect(pane).to_have_count(0)
    expect(button).to_be_focused()
    button.click()
    pane.get_by_role("button", name="Close").click()
    expect(pane).to_have_count(0)


def diagnosis(tensorboard: TensorBoard, run: str) -> dict[str, Any]:
    """Where the time of a step goes, as ``dlprof diagnose`` tells it."""
    return dict(tensorboard.get("diagnosis", profile=tensorboard.profile(run)["id"]))


def plain(text: str) -> str:
    """The text with one kind of space."""
    return " ".join(text.split())


def test_the_answer_stands_on_the_first_screen(page: Page, tensorboard: TensorBoard) -> None:
    """At 1280 by 800: the sentence, what was left out, the bar of the step, and the first finding with its gain."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp"))
    result = diagnosis(tensorboard, "amp")
    heading = page.locator(".headline h2")
    expect(heading).to_contain_text("Computing")
    assert plain(heading.inner_text()) == plain(result["headline"]).replace("`", "")
    assert " took " in result["typical"]["said"]
    expect(page.locator(".headline")).to_contain_text(result["typical"]["said"])
    (device,) = result["mean"]["devices"].values()
    bar = page.locator(".headline .stacked-bar")
    large = [part for part, ns in device["parts"].items() if ns >= result["mean"]["wall_ns"] / 100]
    expect(bar.locator("a.segment")).to_have_count(len(large))
    for segment in bar.locator("a.segment").all():
        assert re.search(r"\d+ ns", tip_of(segment))
    assert "timeline.gap" in str(bar.get_by_role("link", name="Data loader").get_attribute("href"))
    first = panel(page, "What to Change First").get_by_role("listitem").first
    assert plain(result["findings"][0]["title"])[:60] in plain(first.inner_text())
    for seen in (heading, bar, first, panel(page, "Iteration Summary").locator("svg").last):
        expect(seen).to_be_in_viewport(ratio=0.9)
    assert "view=recommendations" in str(first.locator(".change-title").get_attribute("href"))


def test_another_way_to_a_gain_stands_below_it(page: Page, tensorboard: TensorBoard) -> None:
    """TF32 and mixed precision shorten the same kernels: one change, and what its one line of code gains."""
    page.goto(tensorboard.page(run="fp32"))
    items = panel(page, "What to Change First").get_by_role("listitem")
    expect(items.first).to_contain_text("Use mixed precision")
    expect(items.first).to_contain_text(re.compile(r"or: Allow TF32, [\d.]+ to [\d.]+ ms"))
    expect(items.filter(has_text="Allow TF32")).to_have_count(1)
    expect(items.filter(has_text="happens once")).to_have_count(0)


def test_three_questions_in_few_clicks(page: Page, tensorboard: TensorBoard) -> None:
    """Why is the step slow, and what first: said at once, 1 click to the moment that proves it. Which module wastes
    most, and why no Tensor Cores: 1. What is on the GPU between two kernels: 2."""
    # On the document: where a button moves under the mouse, Playwright stops the click at the window and clicks again.
    page.add_init_script("window.clicks = 0; document.addEventListener('click', () => { clicks += 1; }, true);")

    def clicks() -> int:
        return int(page.evaluate("() => { const n = clicks; clicks = 0; return n; }"))

    page.goto(tensorboard.page(run="amp"))
    expect(page.locator(".headline h2")).to_contain_text("costs most of the rest")
    expect(panel(page, "What to Change First").get_by_role("listitem").first).to_be_visible()
    assert clicks() == 0
    panel(page, "What to Change First").locator(".whisker-link").first.click()
    expect(page.get_by_label("Details")).to_contain_text(re.compile("Gap of|takes"))
    assert clicks() == 1

    page.goto(tensorboard.page(run="amp"))
    page.get_by_role("link", name="Modules", exact=True).click()
    waste = page.locator(".waste")
    expect(waste).to_be_visible()
    expect(waste).to_contain_text(
        re.compile(r"^(?!ResNet)\w+ ×\d+ could gain most: up to .* kept off Tensor Cores \(\w+\)")
    )
    assert clicks() == 1
    # The row of the sentence says the same.
    gain = waste.locator("h2 strong").inner_text().split()[0]
    waste.get_by_role("button").first.click()
    expect(page.locator("tr[aria-selected=true]").get_by_role("gridcell", name=gain, exact=True)).to_be_visible()
    clicks()

    page.goto(tensorboard.page(run="amp"))
    page.get_by_role("link", name="Timeline", exact=True).click()
    page.get_by_role("button", name="Next gap").click()
    expect(page.get_by_label("Details")).to_contain_text("Gap of")
    expect(page.get_by_label("Details")).to_contain_text("ended by")
    assert clicks() == 2


def test_a_bar_opens_its_iteration(page: Page, tensorboard: TensorBoard) -> None:
    """By keyboard as by mouse; what means leave out says so; Back returns."""
    page.goto(tensorboard.page(run="amp"))
    numbers = [row["iteration"] for row in tensorboard.dashboard("amp")["iterations"]["rows"]]
    bars = panel(page, "Iteration Summary").locator("a.step-bar")
    expect(bars).to_have_count(len(numbers))
    assert "left out of means" in tip_of(bars.first)
    bars.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"Kernels Launched in Iteration {numbers[1]}")).to_be_visible()
    page.go_back()
    expect(panel(page, "Performance Summary")).to_be_visible()


def test_a_chart_is_copied_as_a_picture(page: Page, tensorboard: TensorBoard) -> None:
    """As SVG, with its colours in it."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(tensorboard.page(run="amp"))
    page.get_by_role("button", name="Picture of Iteration Summary").click()
    page.get_by_role("button", name="Copy as SVG").click()
    expect(page.get_by_text("Copied as SVG")).to_be_attached()
    svg = page.evaluate("navigator.clipboard.readText()")
    assert svg.startswith("<svg")
    assert "rgb(" in svg
    assert "var(" not in svg
    page.get_by_role("button", name="Picture of Iteration Summary").click()
    page.get_by_role("button", name="Copy as PNG").click()
    expect(page.get_by_text("Copied as PNG")).to_be_attached()


def test_legend_hides_and_shows(page: Page, tensorboard: TensorBoard) -> None:
    """A legend entry takes its slice out of the chart and brings it back; the URL keeps it."""
    page.goto(tensorboard.page(run="amp"))
    chart = panel(page, "Total Kernel GPU Time")
    slices = chart.locator("path.slice")
    expect(slices.first).to_be_visible()
    before = slices.count()
    entry = chart.get_by_role("button", name=re.compile("^All other kernels"))
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")
    expect(slices).to_have_count(before - 1)
    page.reload()
    expect(slices).to_have_count(before - 1)
    entry.click()
    expect(slices).to_have_count(before)


def test_slices_show_their_values(page: Page, tensorboard: TensorBoard) -> None:
    """Pointing at a slice shows what it is, its time and the whole."""
    page.goto(tensorboard.page(run="amp"))
    chart, tooltip = page.locator(".donut-chart").first, page.get_by_role("tooltip")
    box = chart.bounding_box()
    assert box is not None

    def is_described() -> bool:
        # What arrives above the chart meanwhile moves it away from under the pointer, and hides what was told.
        page.mouse.move(0, 0)
        chart.hover(position={"x": box["width"] * 0.57, "y": box["height"] * 0.09})
        return tooltip.is_visible()

    wait_for(is_described)
    expect(tooltip).to_contain_text("Using GPU")
    expect(tooltip).to_contain_text("wall clock time")


def test_cpu_only_says_so(page: Page, tensorboard: TensorBoard) -> None:
    """A profile without GPU work says that, and shows no utilization of nothing."""
    page.goto(tensorboard.page(run="cpu"))
    expect(page.locator(".headline h2")).to_contain_text("no GPU work")
    expect(page.locator(".headline .model-line")).to_contain_text("Bar: 7.54\u00a0ms, mean of 4 iterations.")
    expect(panel(page, "GPU Utilization")).to_have_count(0)
    expect(page.get_by_text("GPU Utilization, Tensor Core Kernel Efficiency")).to_contain_text("holds no kernel")


def test_a_file_cut_short_before_its_gpu_work(page: Page, tmp_path: Path) -> None:
    """It is not said to lack the GPU's activities, which may have been in what is missing."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9}
    text = json.dumps({"schemaVersion": 1, "traceEvents": [event, event]})
    (tmp_path / "trace.json").write_text(text[: text.rindex("{") + 9])
    with viewing(tmp_path / "trace.json", tmp_path / "cache") as viewer:
        page.goto(viewer.page())
        headline = page.locator(".headline")
        expect(headline).to_contain_text("This recording holds no GPU work.")
        expect(headline).to_contain_text("where the file is cut short.")
        expect(headline).not_to_contain_text("ProfilerActivity")


@pytest.mark.parametrize("real_run", ["mi300x"], indirect=True)
def test_amd_has_matrix_cores(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """On AMD GPUs the unit is called Matrix Core, on all panels."""
    page.goto(tensorboard.page(run=real_run))
    expect(panel(page, "Matrix Core Kernel Efficiency")).to_be_visible()
    expect(page.get_by_role("main")).not_to_contain_text("Tensor Core")


def test_a_narrow_dashboard_scrolls_down_only(page: Page, tensorboard: TensorBoard) -> None:
    """Its wide tables scroll by themselves, with what only screen readers are told in them."""
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(tensorboard.page(run="amp"))
    expect(page.get_by_role("region", name="Where GPU Time Goes").locator("tbody tr").first).to_be_visible()
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] == widths[1]


@pytest.mark.parametrize(
    ("run", "said", "unsaid"), [("amp", "torch.autocast", "trtexec"), ("tensorrt", "trtexec", "torch")]
)
def test_guidance_is_for_the_framework(
    page: Page, tensorboard: TensorBoard, logdir: Path, run: str, said: str, unsaid: str
) -> None:
    """What turns Tensor Cores on has another name in each."""
    if not (logdir / run).exists():
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    page.goto(tensorboard.page(run=run))
    page.get_by_text("System, guidance, and what this recording holds").click()
    guidance = page.get_by_role("region", name="Guidance")
    expect(guidance).to_contain_text(said)
    expect(guidance).not_to_contain_text(unsaid)


def heights_of_heads(page: Page) -> set[int]:
    """Of the four charts of the Dashboard."""
    heads = page.locator(".dashboard .panel:has(.donut) .panel-head")
    expect(heads).to_have_count(4)
    return {int(height) for height in heads.evaluate_all("heads => heads.map(head => head.offsetHeight)")}


@pytest.mark.parametrize("width", [800, 1265, 1280, 1920])
def test_titles_stand_in_one_line_with_their_tools(page: Page, tensorboard: TensorBoard, width: int) -> None:
    """Of the charts, as wide as 1280 pixels with a scroll bar beside them and without, and on half a screen."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(tensorboard.page(run="amp"))
    assert heights_of_heads(page) == {40}


@pytest.mark.parametrize("real_run", ["nsight"], indirect=True)
def test_the_way_to_several_gpus_stands_beside_the_title(page: Page, tensorboard: TensorBoard, real_run: str) -> None:
    """On a laptop."""
    page.set_viewport_size({"width": 1265, "height": 900})
    page.goto(tensorboard.page(run=real_run))
    expect(page.get_by_role("button", name="More about GPU Utilization")).to_be_visible()
    assert heights_of_heads(page) == {40}


def test_what_is_not_on_tensor_cores_adds_up(page: Page, tensorboard: TensorBoard) -> None:
    """The parts below the precisions are those of "Not using them" beside the ring; shares tell what they are of."""
    page.goto(tensorboard.page(run="amp"))
    off = panel(page, "Tensor Core Kernel Efficiency").get_by_role("button", name="Not using them")
    precisions = panel(page, "Kernel Time by Precision")
    expect(precisions.locator("p")).to_contain_text("not on Tensor Cores")
    tips = precisions.locator("p .number").evaluate_all(
        "all => all.map(each => each.closest('[data-tip]').dataset.tip)"
    )
    assert sum(int(re.findall(r"([\d,]+) ns", tip)[0].replace(",", "")) for tip in tips) == nanoseconds(off)
    times = tensorboard.dashboard("amp")["kernel_time"]
    kernels = f"{(times['total']['time_ns'] - times['memory']['time_ns']) / 1e6:.1f} ms"
    expect(precisions).to_contain_text(f"Of {kernels} kernel time:")
    expect(panel(page, "Total Kernel GPU Time")).to_contain_text(
        f"of {times['total']['time_ns'] / 1e6:.1f} ms in kernels and copies"
    )


def test_times_of_a_legend_have_one_unit(page: Page, tensorboard: TensorBoard) -> None:
    """That of the largest, as in a column."""
    page.goto(tensorboard.page(run="amp"))
    for title in ("GPU Utilization", "Resource Usage Breakdown", "Total Kernel GPU Time"):
        values = panel(page, title).locator(".legend-value:not(.legend-words)")
        expect(values.first).to_be_visible()
        assert {text.split()[-1] for text in values.all_inner_texts()} == {"ms"}


@pytest.mark.parametrize(("run", "width"), [("amp", 1280), ("amp", 800), ("cpu", 1280), ("cpu", 800)])
def test_no_hole_is_left_beside_a_panel(page: Page, tensorboard: TensorBoard, run: str, width: int) -> None:
    """DLProf's panels fill what they stand in."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(tensorboard.page(run=run))
    expect(panel(page, "Performance Summary")).to_be_visible()
    filled = page.locator(".dlprof-panels").evaluate(
        """grid => {
            const area = each => (each.offsetWidth + 12) * (each.offsetHeight + 12);
            return [...grid.querySelectorAll(".panel")].reduce((sum, each) => sum + area(each), 0) / area(grid);
        }"""
    )
    assert filled == pytest.approx(1, abs=0.01)
