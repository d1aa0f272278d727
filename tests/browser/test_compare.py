"""The page Compare: choosing a baseline, the verdict, the table, swapping, and the baseline on other pages."""

from __future__ import annotations

import re
import shutil
from decimal import Decimal
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import sample
from tests.browser.serving import TensorBoard, running


def test_a_baseline_is_chosen_kept_and_swapped(page: Page, tensorboard: TensorBoard) -> None:
    """Every state is in the URL; the baseline stays while other pages are looked at. The list does not stand out of the
    window."""
    page.set_viewport_size({"width": 900, "height": 700})
    page.goto(tensorboard.page(run="amp", view="compare"))
    expect(page.get_by_role("heading", name="Choose a baseline")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name=re.compile("Choose a(nother| baseline)")).click()
    box = page.get_by_role("dialog", name="Select the baseline").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 900
    page.keyboard.type("fp32")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("p.dlprof.base="))
    expect(page.locator("header.headline h2 .compare-word")).to_have_text(
        re.compile("Faster|Slower|No clear change|Cannot tell")
    )
    numbers = page.get_by_role("region", name="Key Numbers").get_by_role("listitem").filter(has_text="Iteration, mean")
    change = numbers.inner_text()
    # The time of A and the changes add up to that of B, as they are shown.
    steps = [
        Decimal(re.sub(r"[^\d.-]", "", step.replace("\u2212", "-")))
        for step in page.locator(".waterfall li:not(:has(.detail)) .waterfall-value").all_inner_texts()
    ]
    assert len(steps) > 2
    assert sum(steps[:-1]) == steps[-1]
    groups = page.get_by_role("grid", name="Changes by Group of Ops")
    expect(groups).to_be_visible()
    # The number of what the headline names leads to the rows that add up to it.
    named = page.locator("header.headline h2 a")
    number = named.inner_text()
    named.click()
    expect(groups.locator("tfoot")).to_contain_text(number.replace("\u00a0", " "))
    page.get_by_role("button", name=re.compile("^Op Type: ")).click()
    # What no field tells of is told as something to remove.
    page.get_by_role("button", name="While kernels run").click()
    expect(groups.locator("tfoot")).to_contain_text(" of ")
    page.get_by_role("button", name="Kernels", exact=True).click()
    expect(groups.locator("tfoot")).to_contain_text("All")
    change_head = groups.get_by_role("columnheader", name=re.compile(r"^Change \("))
    expect(change_head).to_have_attribute("aria-sort", "descending")
    groups.locator("tbody tr", has_text="forward").first.click()
    page.get_by_role("grid", name=re.compile("^Ops of .* forward$")).locator("tbody tr").first.click()
    expect(page.get_by_text("Matched by").last).to_be_visible()
    page.get_by_role("button", name="Program order").click()
    expect(page.get_by_role("heading", name="Accumulated Change in Program Order")).to_be_visible()
    expect(page.get_by_role("grid", name="Changes by Op", exact=True)).to_be_visible()
    page.get_by_role("button", name="Kernels replaced").click()
    expect(page.get_by_role("grid", name="Kernels Replaced")).to_be_visible()
    page.get_by_role("button", name="Modules").click()
    tree = page.get_by_role("treegrid", name="Groups of ops")
    for head in ("A", "B", "Change", "Change %"):
        expect(tree.get_by_role("columnheader", name=re.compile(rf"^{head}( \(|$)"))).to_be_visible()
    expect(tree.locator(".fold-count").first).to_contain_text("×")
    expect(page.get_by_label("Kernel time of B over that of A")).to_contain_text("less time")
    page.get_by_role("button", name="Op or line").click()
    heads = page.locator(".compare-memory thead")
    expect(heads).to_have_text(re.compile(r"^Op or lineA \((\w+)\)B \(\1\)Change \(\w+\)$"))
    page.get_by_role("button", name="Swap A and B").click()
    expect(numbers).not_to_have_text(change)
    address = page.url
    page.get_by_role("button", name="No baseline").click()
    likely = page.get_by_role("rowgroup", name="Likely baselines").get_by_role("link")
    expect(likely).to_have_text(["amp"])
    expect(page.get_by_role("rowgroup", name="Likely baselines")).to_contain_text("−72.1\u00a0%")
    # They stand first in the list behind "vs", too, whatever their names.
    page.locator(".base-button").click()
    first = page.get_by_role("listbox", name="Profiles").get_by_role("group").first
    expect(first).to_have_accessible_name("Likely baselines: of the same program")
    expect(first.get_by_role("option")).to_have_count(1)
    expect(first).to_contain_text("in the same ops")
    page.keyboard.press("Escape")
    page.goto("about:blank")
    page.goto(address)
    page.get_by_role("link", name="Ops", exact=True).click()
    expect(page.get_by_label("Against the baseline")).to_contain_text("Iteration")
    # The direction tells rows of one path apart; A, the change and the GPU time stand beside each other.
    # What only copies has none of them, and says why.
    grid = page.get_by_role("grid", name="Ops by Path")
    expect(grid.get_by_role("columnheader").nth(1)).to_contain_text("Direction")
    heads = " ".join(grid.get_by_role("columnheader").all_inner_texts())
    assert re.search("Kernel Time A[^B]*Change.*GPU Time", heads, re.DOTALL)
    expect(page.locator("[data-tip*='compared as a part of the iteration']").first).to_have_text("–")
    page.get_by_role("button", name="Kernel", exact=True).click()
    expect(page.get_by_role("region", name="Kernels", exact=True)).to_contain_text("not compared here; see Compare")
    page.get_by_role("button", name="No baseline").click()
    expect(page.get_by_label("Against the baseline")).to_have_count(0)


def test_every_page_says_where_a_change_may_be_none(page: Page, tensorboard: TensorBoard) -> None:
    """Three iterations of each rank are too few to tell; where they are enough, there is nothing to say."""
    strip = page.get_by_label("Against the baseline")
    for run, base, said in (
        ("ddp/rank0", "ddp/rank1", ": this profileCannot tell what changed:Iteration"),
        ("amp", "fp32", ": this profileIteration"),
    ):
        page.goto("about:blank")
        page.goto(tensorboard.page(run=run, view="compare", base=tensorboard.profile(base)["id"]))
        expect(page.locator("header.headline h2 .compare-word")).to_be_visible()
        page.get_by_role("link", name="Dashboard", exact=True).click()
        expect(strip).to_contain_text(said)
    page.goto("about:blank")
    page.goto(tensorboard.page(run="ddp/rank0", view="memory", base=tensorboard.profile("ddp/rank1")["id"]))
    # What is said of times is not said of memory.
    expect(strip).to_contain_text("no changeCannot tell what changed:Iteration")


def test_what_a_selection_shows_comes_into_sight(page: Page, tensorboard: TensorBoard) -> None:
    """Below its table, with the selected row. On a phone the change of every number stands within its card."""
    base = tensorboard.profile("fp32")["id"]
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(tensorboard.page(run="amp", view="compare", base=base))
    group = page.get_by_role("grid", name="Changes by Group of Ops").locator("tbody tr").first
    # Between two cells, which focuses none of them.
    group.dispatch_event("click")
    ops = page.get_by_role("grid", name=re.compile("^Ops of ")).locator("tbody tr")
    expect(ops.first).to_be_in_viewport()
    expect(group).to_be_in_viewport()
    ops.first.click()
    expect(page.get_by_text("Matched by path and shape.")).to_be_in_viewport()
    expect(ops.first).to_be_in_viewport()
    page.set_viewport_size({"width": 390, "height": 800})
    numbers = page.get_by_role("region", name="Key Numbers")
    assert numbers.evaluate("element => element.scrollWidth <= element.clientWidth")


def test_different_programs_are_set_side_by_side_without_changes(page: Page, tensorboard: TensorBoard) -> None:
    """Each side by its own whole. What they have in common is matched only when that is asked for."""
    base = tensorboard.profile("ddp/rank0")["id"]
    page.goto(tensorboard.page(run="amp", view="compare", base=base))
    expect(page.locator("header.headline h2")).to_contain_text("different programs")
    numbers = page.get_by_role("region", name="Side by Side")
    expect(numbers.get_by_role("listitem").filter(has_text="GPU utilization")).to_have_text(
        re.compile(r"^GPU utilizationA [\d.]+\s%B [\d.]+\s%$")
    )
    expect(page.get_by_role("group", name="Time of A")).to_be_visible()
    largest = page.get_by_role("region", name="Largest Groups of Ops of B").get_by_role("listitem")
    expect(largest.first).to_contain_text("conv2d")
    expect(page.get_by_role("grid")).to_have_count(0)
    page.get_by_role("button", name="Compare them all the same").click()
    expect(page.get_by_role("grid", name="Changes by Group of Ops")).to_be_visible()


def test_the_list_of_baselines_opens_at_the_nearest_and_then_at_the_same_program(
    page: Page, logdir: Path, tmp_path: Path
) -> None:
    """What lies in the same folder is first before the server has answered, whether clicked at once or by key."""
    page.set_viewport_size({"width": 1280, "height": 800})
    logs = tmp_path / "logs"
    for run, like in {"again": "amp", "cnn/new": "amp", "cnn/old": "amp", "a": "cpu", "b/x": "ddp/rank0"}.items():
        shutil.copytree(logdir / like, logs / run)
    held: list[Route] = []
    with running(logs, tmp_path / "cache") as tensorboard:
        page.route(re.compile("compare_baselines"), lambda route: held.append(route))
        page.goto(tensorboard.page(run="cnn/new"))
        groups = page.get_by_role("listbox", name="Profiles").get_by_role("group")
        button = page.locator(".versus .base-button")
        button.click()
        expect(page.get_by_text("Looking for likely baselines")).to_be_in_viewport()
        expect(groups.first).to_have_accessible_name("cnn/old")
        expect(groups.first.get_by_role("option")).to_have_class(re.compile("active"))
        page.keyboard.press("Escape")
        button.press("Enter")
        expect(groups.first).to_have_accessible_name("cnn/old")
        for route in held:
            route.continue_()
        expect(groups.first).to_have_accessible_name("Likely baselines: of the same program")
        options = groups.first.get_by_role("option")
        expect(options.locator(".picker-run")).to_have_text(["cnn/old", "again"])
        expect(options.first).to_have_class(re.compile("active"))


def test_profiles_that_nobody_opened_are_offered_as_baselines(page: Page, tmp_path: Path) -> None:
    """Nothing is known of their ops; the one that is chosen is imported and compared with."""
    for run in ("before", "after"):
        (tmp_path / "logs" / run).mkdir(parents=True)
        shutil.copy(sample("generated-resnet50-amp.pt.trace.json.gz"), tmp_path / "logs" / run)
    with running(tmp_path / "logs", tmp_path / "cache") as tensorboard:
        page.goto(tensorboard.page(run="after", view="compare"))
        page.get_by_text("1 file not imported yet").click()
        offered = page.get_by_role("list", name="Not imported yet").get_by_role("link")
        expect(offered).to_have_text(["before/generated-resnet50-amp.pt.trace.json.gz"])
        offered.click()
        expect(page.locator("header.headline h2 .compare-word")).to_have_text("No change")
