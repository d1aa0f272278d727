"""Iterations and re-aggregation: bars, boundaries, zoom, key node, jobs that survive a refresh."""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import sample
from tests.browser.serving import TensorBoard, running
from tests.cli.traces import number_ranges, write_trace
from tests.waiting import PATIENCE_S, wait_for

SAMPLE = "generated-resnet50-amp.pt.trace.json.gz"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """TensorBoard whose aggregations no other test sees."""
    logs: Path = tmp_path_factory.mktemp("aggregating") / "logs"
    for run in ("run", "included"):
        (logs / run).mkdir(parents=True)
        shutil.copy(sample(SAMPLE), logs / run)
    number_ranges(write_trace(logs / "epochs" / "a.pt.trace.json", steps=6), 6, batch=1, epoch=2)
    with running(logs, tmp_path_factory.mktemp("cache")) as server:
        for run in ("run", "included", "epochs"):
            _post(server, "import", profile=server.profile(run)["id"])
            wait_for(lambda: server.profile(run)["state"] == "ready")  # noqa: B023 (called at once)
        yield server


def _post(server: TensorBoard, route: str, **body: object) -> None:
    request = urllib.request.Request(
        f"{server.address}data/plugin/dlprof/{route}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "X-DLProf": "1"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
        response.read()


def boundary(page: Page, name: str) -> Locator:
    """A handle of the chart."""
    return page.get_by_role("slider", name=name)


def open_form(page: Page) -> None:
    """Unfold the fields of a new aggregation."""
    page.get_by_role("button", name="New aggregation", exact=True).click()


@pytest.fixture
def opened(page: Page, own: TensorBoard) -> Page:
    """Iterations of the sample, as first aggregated."""
    page.goto(own.page(run="run", view="iterations"))
    expect(boundary(page, "Iter Start")).to_be_visible()
    open_form(page)
    return page


def test_bars_and_badges(opened: Page, own: TensorBoard) -> None:
    """The badges and the table twin say what the server does; pointing at a bar shows all of its parts."""
    answer = own.get("iterations", profile=own.profile("run")["id"])
    region = opened.get_by_role("region", name="Iterations", exact=True)
    badges = [f"Total {answer['total']}", f"Profiled {answer['profiled']}", f"Start {answer['iter_start']}"]
    expect(region.locator(".badge")).to_have_text([*badges, f"Stop {answer['iter_stop']}"])
    opened.get_by_role("button", name="As a table").click()
    expect(region.locator(".twin-scroll tbody tr")).to_have_count(len(answer["rows"]))
    chart = opened.get_by_role("group", name=re.compile("^Duration of"))
    chart.focus()
    opened.keyboard.press("ArrowRight")
    expect(opened.locator(".hover-card")).to_contain_text(f"Iteration {answer['first']}")
    # Enter shows it below; a click on a bar shows that one.
    opened.keyboard.press("Enter")
    expect(opened).to_have_url(re.compile(f"iters.row={answer['first']}"))
    expect(opened.get_by_text(f"Iteration {answer['first']} is outside")).to_be_visible()
    opened.set_viewport_size({"width": 1920, "height": 800})
    svg = chart.locator("svg")
    opened.wait_for_function("svg => svg.getBoundingClientRect().width > 1800", arg=svg.element_handle())
    box = svg.bounding_box()
    assert box is not None
    # All of its column, right of the axis and left of the word beside the line of the median: few fill the width, too.
    pitch = (box["width"] - 56 - 52) / answer["total"]
    middle = (answer["iter_stop"] + 0.9 - answer["first"]) * pitch
    opened.mouse.click(box["x"] + 56 + middle, box["y"] + 40)
    expect(opened.locator(".iteration-strip h2")).to_contain_text(f"Iteration {answer['iter_stop']}")
    expect(opened.get_by_role("grid", name=f"Kernels Launched in Iteration {answer['iter_stop']}")).to_be_visible()


def test_boundaries_move_in_every_way(opened: Page) -> None:
    """Drag, type, wheel and arrow keys move a boundary; field, handle and URL agree; it cannot pass the other one."""
    start, stop = boundary(opened, "Iter Start"), boundary(opened, "Iter Stop")
    first, last = int(start.get_attribute("aria-valuenow") or 0), int(stop.get_attribute("aria-valuenow") or 0)
    field = opened.get_by_label("Select Iter Start")
    start.focus()
    opened.keyboard.press("ArrowRight")
    expect(field).to_have_value(str(first + 1))
    expect(opened).to_have_url(re.compile(f"iterations.start={first + 1}"))
    field.hover()
    opened.mouse.wheel(0, -100)
    expect(start).to_have_attribute("aria-valuenow", str(first + 2))
    field.fill(str(first + 1))
    expect(start).to_have_attribute("aria-valuenow", str(first + 1))
    grip, end = start.locator("path").bounding_box(), stop.locator("path").bounding_box()
    assert grip is not None
    assert end is not None
    opened.mouse.move(grip["x"] + 4, grip["y"] + 6)
    opened.mouse.down()
    opened.mouse.move(end["x"] + 300, grip["y"] + 6, steps=8)
    opened.mouse.up()
    expect(start).to_have_attribute("aria-valuenow", str(last))
    opened.reload()
    expect(field).to_have_value(str(last))
    opened.get_by_role("button", name="Reset").click()
    expect(field).to_have_value(str(first))


def test_back_restores_the_earlier_range(opened: Page) -> None:
    """Back undoes a drag as a whole, and a typed boundary."""
    start = boundary(opened, "Iter Start")
    first = str(start.get_attribute("aria-valuenow"))
    grip, end = start.locator("path").bounding_box(), boundary(opened, "Iter Stop").locator("path").bounding_box()
    assert grip is not None
    assert end is not None
    opened.mouse.move(grip["x"] + 4, grip["y"] + 6)
    opened.mouse.down()
    opened.mouse.move((grip["x"] + end["x"]) / 2, grip["y"] + 6, steps=8)
    opened.mouse.up()
    expect(start).not_to_have_attribute("aria-valuenow", first)
    dragged = str(start.get_attribute("aria-valuenow"))
    opened.get_by_label("Select Iter Stop").fill(dragged)
    expect(boundary(opened, "Iter Stop")).to_have_attribute("aria-valuenow", dragged)
    opened.go_back()
    expect(boundary(opened, "Iter Stop")).not_to_have_attribute("aria-valuenow", dragged)
    expect(start).to_have_attribute("aria-valuenow", dragged)
    opened.go_back()
    expect(start).to_have_attribute("aria-valuenow", first)
    expect(start).to_be_visible()


@pytest.mark.parametrize("view", ["dashboard", "iterations"])
def test_what_was_left_out_is_included(page: Page, own: TensorBoard, view: str) -> None:
    """One click counts all iterations, on the page where it stands, and says so; another takes it back."""
    page.goto(own.page(run="included", view=view))
    line = page.locator(".headline .model-line")
    expect(line).to_contain_text("Iterations 2 to 5: 4 of 5 recorded.")
    line.get_by_role("button", name="Include what was left out").click()
    expect(line).to_contain_text(re.compile(r"All 5 iterations\. Included: iteration 1 took .* the median: warm-up\."))
    expect(page.get_by_role("region", name="Re-aggregation")).to_have_count(0)
    expect(page.get_by_role("button", name="Aggregation: iterations 1 .. 5")).to_be_visible()
    expect(page.get_by_role("button", name="Include what was left out")).to_have_count(0)
    line.get_by_role("button", name="Leave it out again").click()
    expect(line).to_contain_text("Iterations 2 to 5: 4 of 5 recorded.")
    expect(page.get_by_role("button", name="Aggregation: iterations 2 .. 5")).to_be_visible()
    # The aggregation is there already: it is shown at once.
    line.get_by_role("button", name="Include what was left out").click()
    expect(line).to_contain_text("All 5 iterations.")
    made = own.dashboard("included")["aggregations"]
    assert [(each["iter_start"], each["iter_stop"]) for each in made].count((1, 5)) == 1


def test_a_bar_that_is_left_out_is_as_long_as_the_sentence_says(page: Page, tensorboard: TensorBoard) -> None:
    """It is compared with the mean of the others in the finding: another number above it would contradict that."""
    page.goto(tensorboard.page(run="ddp/rank0", view="iterations"))
    expect(page.locator(".headline .model-line")).to_contain_text("Iteration 1 took 38.2\u00a0ms")
    expect(page.locator(".axis-caption").first).to_have_text("38.2\u00a0ms, warm-up")


def test_zoom_and_pan(opened: Page) -> None:
    """Keys, wheel and buttons zoom; the URL keeps what is visible; All iterations shows all again."""
    show_all = opened.get_by_role("button", name="All iterations")
    expect(show_all).to_have_count(0)  # few are told apart without
    opened.get_by_role("group", name=re.compile("^Duration of")).hover()
    opened.mouse.wheel(0, -300)
    expect(opened).to_have_url(re.compile("iterations.from="))
    expect(show_all).to_have_attribute("aria-pressed", "false")
    opened.reload()
    expect(show_all).to_have_attribute("aria-pressed", "false")
    opened.get_by_role("group", name=re.compile("^Duration of")).focus()
    opened.keyboard.press("Shift+ArrowRight")
    show_all.click()
    expect(opened).not_to_have_url(re.compile("iterations.from="))


def test_reaggregation_survives_a_refresh(opened: Page, own: TensorBoard) -> None:
    """A range, Reaggregate, confirm, refresh in the middle, Success, show it, delete it again."""
    opened.get_by_label("Select Iter Start").fill("3")
    opened.get_by_role("button", name="Reaggregate", exact=True).click()
    dialog = opened.get_by_role("dialog")
    expect(dialog).to_contain_text("3 to 5")
    dialog.get_by_role("button", name="Reaggregate").click()
    banner = opened.get_by_role("region", name="Re-aggregation")
    expect(banner).to_be_visible()
    opened.reload()
    expect(banner).to_contain_text("Success!")
    opened.get_by_role("link", name="Dashboard", exact=True).click()
    expect(banner).to_be_visible()
    banner.get_by_role("button", name="Show it").click()
    expect(banner).to_have_count(0)
    after = own.dashboard("run")
    assert [each["id"] for each in after["aggregations"]] == [1, 2]
    summary = opened.get_by_role("region", name="Performance Summary")
    expect(summary.locator(".fact").filter(has_text="Start").locator("dd")).to_have_text("3")
    expect(opened).to_have_url(re.compile("aggregation=2"))
    opened.get_by_role("button", name=re.compile("^Aggregation:")).click()
    opened.get_by_role("button", name=re.compile("^Delete")).click()
    opened.get_by_role("button", name=re.compile("^Really delete")).click()
    expect(opened.get_by_role("button", name=re.compile("^Aggregation:"))).to_have_count(0)
    assert [each["id"] for each in own.dashboard("run")["aggregations"]] == [1]


def test_what_was_just_made_is_never_called_deleted(opened: Page) -> None:
    """Success is told once the list that has it is there: not for a moment the opposite."""
    opened.evaluate("""() => {
      window.said = [];
      new MutationObserver(() => window.said.push(document.body.innerText)).observe(
        document.body, {subtree: true, childList: true, characterData: true});
    }""")
    opened.get_by_label("Select Iter Stop").fill("4")
    opened.get_by_role("button", name="Reaggregate", exact=True).click()
    opened.get_by_role("dialog").get_by_role("button", name="Reaggregate").click()
    banner = opened.get_by_role("region", name="Re-aggregation")
    expect(banner).to_contain_text("Success!")
    expect(banner.get_by_role("button", name="Show it")).to_be_visible()
    assert not opened.evaluate("window.said.some((text) => text.includes('has been deleted'))")


def test_a_second_tab_sees_it_and_others_do_not(opened: Page, own: TensorBoard) -> None:
    """Another tab shows the job; another user's browser does not, but has the aggregation in its menu."""
    opened.get_by_label("Select Iter Stop").fill("4")
    opened.get_by_role("button", name="Reaggregate", exact=True).click()
    opened.get_by_role("dialog").get_by_role("button", name="Reaggregate").click()
    banner = opened.get_by_role("region", name="Re-aggregation")
    expect(banner).to_contain_text("Success!")
    tab = opened.context.new_page()
    tab.goto(own.page(run="run"))
    expect(tab.get_by_role("region", name="Re-aggregation")).to_contain_text("Success!")
    browser = opened.context.browser
    assert browser is not None
    stranger = browser.new_context()
    page = stranger.new_page()
    page.goto(own.page(run="run"))
    expect(page.get_by_role("button", name=re.compile("^Aggregation:"))).to_be_visible()
    expect(page.get_by_role("region", name="Re-aggregation")).to_have_count(0)
    stranger.close()
    banner.get_by_role("button", name="Dismiss").click()
    expect(banner).to_have_count(0)
    tab.close()


def test_a_key_node_is_picked(opened: Page, own: TensorBoard) -> None:
    """The picker searches the ops; the chosen one ends iterations in the new aggregation and is named in the menu."""
    opened.get_by_role("button", name="Pick …").click()
    dialog = opened.get_by_role("dialog", name="Select Key Node")
    dialog.get_by_label("Search ops").fill("linear")
    expect(dialog).to_contain_text("filtered from")
    dialog.locator("tbody tr").first.click()
    op = own.get(
        "table", profile=own.profile("run")["id"], table="ops", search="linear", limit="1", sort="-gpu_time_ns"
    )["rows"][0]["op_id"]
    dialog.get_by_role("button", name=f"Use {op}").click()
    expect(opened.get_by_label("Key node", exact=True)).to_have_value(op)
    opened.get_by_role("button", name="Reaggregate", exact=True).click()
    opened.get_by_role("dialog").get_by_role("button", name="Reaggregate").click()
    banner = opened.get_by_role("region", name="Re-aggregation")
    expect(banner).to_contain_text(re.compile("Success!|failed"))
    expect(banner).to_contain_text(op)


def test_ways_of_one_kind_are_told_apart(page: Page, own: TensorBoard) -> None:
    """Batches and epochs are both numbered: those that are chosen are aggregated."""
    page.goto(own.page(run="epochs", view="iterations"))
    open_form(page)
    page.get_by_label("Iterations by").select_option("epoch N (3)")
    page.get_by_role("button", name="Reaggregate", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("epoch N")
    dialog.get_by_role("button", name="Reaggregate").click()
    expect(page.get_by_role("region", name="Re-aggregation")).to_contain_text("Success!")
    made = own.get("dashboard", profile=own.profile("epochs")["id"], aggregation="2")
    assert (made["iterations"]["source"]["label"], made["performance"]["total_iterations"]) == ("epoch N", 3)


def test_a_failure_says_why(opened: Page, own: TensorBoard) -> None:
    """An aggregation that cannot be made fails with the server's reason, and the page stays usable."""
    opened.goto(own.page(run="run", view="iterations", **{"iterations.key": "NO_SUCH_OP_1"}))
    opened.get_by_role("button", name="Reaggregate", exact=True).click()
    opened.get_by_role("dialog").get_by_role("button", name="Reaggregate").click()
    failure = opened.get_by_role("alert")
    expect(failure.first).to_contain_text("NO_SUCH_OP_1")
    opened.get_by_role("link", name="Dashboard", exact=True).click()
    expect(opened.get_by_role("region", name="Performance Summary")).to_be_visible()


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory, logdir: Path) -> Iterator[TensorBoard]:
    """TensorBoard with --dlprof_reaggregate off."""
    logs = tmp_path_factory.mktemp("off")
    shutil.copytree(logdir / "amp", logs / "amp")
    with running(logs, tmp_path_factory.mktemp("cache"), "--dlprof_reaggregate", "off") as server:
        yield server


def test_switched_off_it_says_so(page: Page, without: TensorBoard) -> None:
    """With re-aggregation off the boundaries rest, and the page gives the command instead."""
    page.goto(without.page(run="amp", view="iterations"))
    open_form(page)
    expect(page.get_by_text("--dlprof_reaggregate off")).to_be_visible()
    expect(page.get_by_role("button", name="Reaggregate", exact=True)).to_be_disabled()
    expect(boundary(page, "Iter Start")).to_have_attribute("aria-disabled", "true")
    for view in ("iterations", "dashboard"):
        page.goto(without.page(run="amp", view=view))
        expect(page.locator(".headline .model-line")).to_contain_text("4 of 5 recorded.")
        expect(page.get_by_role("button", name="Include what was left out")).to_have_count(0)
