"""Memory: a link shows the window and the moment that its sender saw."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import TensorBoard, running, viewing
from tests.shared_data import shared_data

MB = 1 << 20


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """Ten blocks that are allocated one after the other, without times."""
    events = [{"action": "alloc", "addr": 8 * MB * number, "size": 8 * MB} for number in range(10)]
    blocks = [{"size": 8 * MB, "state": "active_allocated"}] * 10
    segments = [{"device": 0, "address": 0, "total_size": 80 * MB, "blocks": blocks}]
    logs = tmp_path_factory.mktemp("memory")
    (logs / "ten.pickle").write_bytes(pickle.dumps({"segments": segments, "device_traces": [events]}))
    with running(logs, tmp_path_factory.mktemp("cache")) as server:
        yield server


def test_window_and_moment_are_in_the_link(page: Page, snapshot: TensorBoard) -> None:
    """Dragged from the very start, where nothing has happened yet, and clicked; what opens the link shows both."""
    page.goto(snapshot.page())
    curve = page.locator("svg.memory-curve")
    expect(curve).to_contain_text("peak")
    page.get_by_role("link", name="Memory", exact=True).first.click()
    expect(page.get_by_role("heading", name="At the Peak")).to_be_visible()
    box = curve.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 75, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.up()
    expect(curve).not_to_contain_text("event 9")
    page.mouse.click(box["x"] + box["width"] - 4, middle)
    title = page.get_by_role("heading", name=re.compile(r"At Event \d: "))
    said = title.inner_text()
    page.goto(page.url)
    page.reload()
    expect(page.get_by_role("heading", name=said)).to_be_visible()
    expect(curve).not_to_contain_text("event 9")
    page.get_by_role("button", name="Show the peak").click()
    expect(page.get_by_role("heading", name="At the Window's Peak: ")).to_be_visible()
    page.get_by_role("button", name="Whole recording").click()
    expect(page.get_by_role("heading", name="At the Peak: 80.0 MiB")).to_be_visible()
    curve.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name=re.compile(r"At Event \d: "))).to_be_visible()
    page.keyboard.press("Escape")
    expect(curve).to_contain_text("event 9")
    page.keyboard.press("+")
    expect(curve).not_to_contain_text("start")
    page.mouse.dblclick(box["x"] + box["width"] / 2, middle)
    expect(curve).to_contain_text("start")
    expect(curve).to_contain_text("event 9")
    expect(page.get_by_role("heading", name="At the Peak: 80.0 MiB")).to_be_visible()


def test_a_warm_up_does_not_take_the_width_of_the_curve(page: Page, tensorboard: TensorBoard) -> None:
    """The curve begins with the typical iterations, as the Timeline does, where they reach the peak, too; the sentence
    and what is listed are of its first moment."""
    page.goto(tensorboard.page(run="amp", view="memory"))
    curve = page.locator("svg.memory-curve")
    expect(page.locator(".headline h2")).to_contain_text("in each of the 5 iterations: ")
    expect(curve).to_contain_text("peak")
    numbers = curve.locator("text.axis[x]")
    expect(numbers.filter(has_text=re.compile("^iteration$"))).to_have_count(1)
    for number in "2345":
        expect(numbers.filter(has_text=re.compile(f"^{number}$"))).to_have_count(1)
    expect(curve).to_contain_text("the peak, as in each iteration")
    expect(curve).to_contain_text(re.compile(r"\d ms"))
    expect(page.get_by_text("Not shown: 157 ms before.")).to_be_visible()
    expect(page.get_by_role("heading", name="At the Peak: 1.70 GiB")).to_be_visible()
    for phase in ("forward", "backward"):
        expect(page.locator(".memory-key").filter(has_text=phase)).to_have_count(1)
    page.get_by_role("button", name="Show the whole recording").click()
    expect(numbers.filter(has_text=re.compile("^1$"))).to_have_count(1)
    expect(curve).to_contain_text("peak")
    expect(page.get_by_text("Not shown")).to_have_count(0)
    page.get_by_role("button", name="Show iterations 2 to 5 only").click()
    expect(page.get_by_text("Not shown: 157 ms before.")).to_be_visible()
    expect(page.get_by_role("button", name="only")).to_have_count(0)


def test_a_click_means_the_most_of_its_pixel(page: Page, tmp_path: Path) -> None:
    """A pixel stands for several moments: what is read at the pointer is what is told of the click."""
    steps = [("alloc", 8), ("alloc", 64), ("free", 64)] * 2000
    events, free = [], 0
    for number, (action, size) in enumerate(steps):
        address = number if action == "alloc" else free
        free = address
        events.append({"action": "free_completed" if action == "free" else action, "addr": address, "size": size * MB})
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "many.pickle").write_bytes(pickle.dumps({"segments": [], "device_traces": [events]}))
    with running(logs, tmp_path / "cache") as server:
        page.goto(server.page(view="memory"))
        curve = page.locator("svg.memory-curve")
        expect(curve).to_contain_text("peak")
        box = curve.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 150)
        read = page.locator(".memory-reading strong")
        expect(read).to_contain_text("up to")
        said = read.inner_text()
        page.mouse.down()
        page.mouse.up()
        told = page.get_by_text(re.compile(r"^At Event [\d,]+: "))
        expect(told).to_be_visible()
        numbers = re.compile(r"[\d,.]+")
        assert numbers.findall(said)[1] == numbers.findall(told.inner_text())[1]
        expect(read).to_have_count(0)  # it would cover what is beside the moment, which the list tells


def test_the_legend_stays_whatever_moment_is_clicked(page: Page, tensorboard: TensorBoard) -> None:
    """Before the first forward pass there are no activations: they keep their colour, in a line of their own."""
    page.goto(tensorboard.page(run="amp", view="memory", **{"memory.at": "157300000"}))
    expect(page.get_by_role("heading", name="At 157 ms: ")).to_be_visible()
    row = page.locator(".memory-held-then li", has_text="activation")
    expect(row).to_have_count(0)
    expect(page.locator(".memory-held-then")).to_contain_text(re.compile(r"None of it:\s+activation"))
    page.get_by_role("button", name="Show the peak").click()
    expect(row).to_have_text(re.compile("1.41 GiB"))


def test_advice_that_nothing_needs_is_not_given(page: Page, tensorboard: TensorBoard) -> None:
    """With 4 % of the GPU's memory in use, room for a larger batch is the news, not what checkpointing would save."""
    page.goto(tensorboard.page(run="amp", view="memory"))
    advice = page.locator(".memory-findings li")
    expect(advice).to_have_count(1)
    expect(advice).to_contain_text("of the GPU's 39.6 GiB are taken. That leaves room for a larger batch")


def test_sizes_of_a_column_have_one_unit_and_add_up(page: Page, tensorboard: TensorBoard) -> None:
    """The head names it, the filter takes it, and the last row has the sums: at the peak all that was in use then."""
    page.goto(tensorboard.page(run="amp", view="memory"))
    table = page.get_by_role("grid", name="Allocations")
    for head in ("Largest (MiB)", "Size at the Peak (MiB)"):
        expect(table.get_by_role("columnheader", name=head)).to_be_visible()
    expect(table.locator("tfoot")).to_contain_text("1.70 GiB")
    page.get_by_label("Filter Size at the Peak").fill(">200")
    expect(table.locator("tbody tr")).to_have_count(3)


def test_opens_on_the_gpu_that_the_sentence_is_about(page: Page, tmp_path: Path) -> None:
    """The one that holds most, which need not be the first; a click shows another."""
    sizes = (1 * MB, 5 * MB)
    traces = [[{"action": "alloc", "addr": 8 * MB, "size": size}] for size in sizes]
    segments = [
        {"device": gpu, "address": 8 * MB, "total_size": size, "blocks": [{"size": size, "state": "active_allocated"}]}
        for gpu, size in enumerate(sizes)
    ]
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "two.pickle").write_bytes(pickle.dumps({"segments": segments, "device_traces": traces}))
    with running(logs, tmp_path / "cache") as server:
        page.goto(server.page(view="memory"))
        expect(page.locator(".headline h2")).to_contain_text("on GPU 1")
        expect(page.get_by_role("region", name=re.compile("Memory over Time, GPU 1"))).to_be_visible()
        page.get_by_text("GPU 0", exact=True).click()
        expect(page.get_by_role("region", name=re.compile("Memory over Time, GPU 0"))).to_be_visible()


def test_a_block_of_the_allocator_has_neighbours(page: Page, snapshot: TensorBoard) -> None:
    """A click on the map of segments opens the block with those beside it; Escape closes the pane."""
    page.goto(snapshot.page(view="memory"))
    strips = page.locator("canvas.memory-strips")
    strips.scroll_into_view_if_needed()
    box = strips.bounding_box()
    assert box is not None
    strips.click(position={"x": box["width"] * 0.55, "y": 1})
    pane = page.get_by_role("complementary", name="Block of a Segment")
    expect(pane.get_by_role("listitem")).to_have_count(5)
    expect(pane).to_contain_text("by event 5")
    page.reload()
    expect(pane).to_contain_text("by event 5")
    strips.focus()
    page.keyboard.press("ArrowLeft")
    expect(pane.locator("[aria-current=true]")).to_contain_text("by event 4")
    page.keyboard.press("Escape")
    expect(pane).to_have_count(0)


def test_a_peak_above_an_unknown_start_says_so_on_the_dashboard(page: Page, tmp_path: Path) -> None:
    """As the page Memory does: what was there before the recording is not in it."""
    (trace,) = (shared_data() / "torch" / "v100_resnet50_memory").glob("*.json.gz")
    with viewing(trace, tmp_path) as server:
        page.goto(server.page(view="dashboard"))
        tile = page.get_by_role("list", name="Key numbers").get_by_role("listitem").filter(has_text="peak memory")
        expect(tile).to_contain_text("above the start")
