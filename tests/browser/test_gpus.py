"""GPUs: a bar and a row for each, however many there are and however narrow the page."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sample
from tests.browser.serving import TensorBoard, running
from tests.browser.test_column_fit import FITS

GPUS, IN_USE = 16, (0, 1, 2, 3, 5, 6, 7, 8)
"""Of the machine, and those that do something."""


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """A sample whose work is spread over GPUs of a long name."""
    with gzip.open(sample("generated-resnet50-amp.pt.trace.json.gz"), "rt") as file:
        trace = json.load(file)
    (device,) = trace["deviceProperties"]
    trace["deviceProperties"] = [{**device, "id": i, "name": "NVIDIA H100 80GB HBM3"} for i in range(GPUS)]
    on_gpu = [event for event in trace["traceEvents"] if "device" in event.get("args", {})]
    for i, event in enumerate(on_gpu):
        event["args"]["device"] = event["pid"] = IN_USE[i % len(IN_USE)]
    logs = tmp_path_factory.mktemp("several")
    with gzip.open(logs / "several.pt.trace.json.gz", "wt") as file:
        json.dump(trace, file)
    with running(logs, tmp_path_factory.mktemp("cache")) as server:
        yield server


OVERLAP = """() => {
    const boxes = [...document.querySelectorAll(".gpu-axis span")]
        .map((mark) => mark.getBoundingClientRect()).filter(({width}) => width > 0);
    return boxes.some((box, i) => i > 0 && box.left < boxes[i - 1].right);
}"""

WHOLE = """() => [...document.querySelectorAll("tbody td, .gpu-name")]
    .every((text) => text.offsetWidth === 0 || text.scrollWidth <= text.clientWidth)"""


APART = """(panel) => {
    const [title, more] = [...panel.querySelectorAll("h2, button[aria-label^='More']")]
        .map((element) => element.getBoundingClientRect());
    return Math.abs((title.top + title.bottom - more.top - more.bottom) / 2);
}"""
"""In one moment: panels above may still grow."""


@pytest.mark.parametrize("width", [320, 480, 800, 1280])
def test_each_gpu_has_a_bar(page: Page, several: TensorBoard, width: int) -> None:
    """Long names leave room for the bars and the marks below them, and none is cut."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(several.page(view="gpus"))
    expect(page.locator(".headline h2")).to_contain_text(re.compile(r"^GPU \d computed .* %"))
    tracks = page.locator(".gpu-track")
    expect(tracks).to_have_count(len(IN_USE))
    box = tracks.first.bounding_box()
    assert box is not None
    assert box["width"] >= width / 4
    expect(tracks.get_by_role("group", name=re.compile("Mean iteration on GPU"))).to_have_count(len(IN_USE))
    assert not page.evaluate(OVERLAP)
    expect(page.locator(".gpu-bars")).to_contain_text(re.compile(r"GPUs 4, 9 to 15\s*no work in this recording"))
    expect(page.get_by_role("grid", name="GPUs").locator("tbody tr")).to_have_count(GPUS)
    heads = page.get_by_role("grid", name="GPUs").get_by_role("columnheader")
    expect(heads.filter(has_text="GPU Utilization")).to_have_count(1)
    page.wait_for_function(FITS, arg=width)
    assert page.evaluate(WHOLE)


@pytest.mark.parametrize("width", [320, 800, 1000, 1280])
def test_the_way_to_them_stands_beside_the_title(page: Page, several: TensorBoard, width: int) -> None:
    """The Dashboard's small panel has room for its name and the menu in one line."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(several.page())
    panel = page.get_by_role("region", name="GPU Utilization")
    expect(panel.get_by_role("button", name="More about GPU Utilization")).to_be_visible()
    assert panel.evaluate(APART) < 3


def test_of_one_gpu_the_table_is_folded(page: Page, tensorboard: TensorBoard) -> None:
    """The bar and the line below it tell what its only row would; the table can still be shown, and exported."""
    page.goto(tensorboard.page(run="amp", view="gpus"))
    expect(page.get_by_role("region", name="GPU Utilization")).to_contain_text(
        "Compute capability 8.0 · 108 SMs · 39.6\u00a0GiB of memory · 1.70\u00a0GiB in use at the peak"
    )
    table = page.get_by_role("region", name="GPUs", exact=True)
    expect(table).to_have_count(0)
    page.get_by_text("GPUs as a table").click()
    expect(table.get_by_role("button", name="Export")).to_be_visible()
    expect(table.locator("tbody tr")).to_have_count(1)


def test_what_is_of_several_iterations_says_so(page: Page, tensorboard: TensorBoard) -> None:
    """Times of a step stand beside them; what is of one iteration is no sum."""
    count = tensorboard.dashboard("amp")["performance"]["profiled_iterations"]
    assert count > 1
    page.goto(tensorboard.page(run="amp", view="ops"))
    for name in ("Where GPU Time Goes", "Ops by Path"):
        region = page.get_by_role("region", name=name, exact=True)
        expect(region.locator(".sum-note")).to_have_text(f"per iteration, mean of {count}")
    page.goto(tensorboard.page(run="amp", view="gpus"))
    expect(page.locator(".headline h2")).to_contain_text(f" iteration (mean of {count}).")
    expect(page.locator(".headline .model-line")).to_have_text(re.compile("^Idle longest for: "))
    page.goto(tensorboard.page(run="amp", view="modules"))
    expect(page.locator(".icicle-note")).to_have_text(f"GPU time per iteration, mean of {count}")
    page.goto(tensorboard.page(run="amp", view="iterations"))
    expect(page.get_by_role("grid").first).to_be_visible()
    expect(page.locator(".sum-note")).to_have_count(0)


def test_times_are_sums_over_the_gpus_that_were_used(page: Page, several: TensorBoard) -> None:
    """Iterations says of how many GPUs it adds up the kernels: of none that only the machine has."""
    page.goto(several.page(view="iterations"))
    expect(page.locator(".selected-iteration")).to_contain_text(f"Times are sums over {len(IN_USE)} GPUs.")


def test_waiting_is_told_from_transfer_in_the_bar_of_a_rank(page: Page, tensorboard: TensorBoard) -> None:
    """As in the bars of all ranks above, which are of the same iterations."""
    page.goto(tensorboard.page(run="ddp/rank0", view="gpus"))
    expect(page.get_by_role("region", name="Ranks", exact=True)).to_contain_text(
        "mean of 3 iterations, iteration 1 (warm-up) left out: 20.4\u00a0ms"
    )
    tip = page.locator(".rank-track").first.get_attribute("data-tip")
    assert tip is not None
    assert "Tensor Cores: 11.2 ms (54.7 %)\nOther kernels: 4.67 ms (22.9 %)" in tip
    assert "Transfer: 757 µs (3.7 %)" in tip
    assert "Waiting: 2.58 ms (12.6 %)" in tip
    own = page.get_by_role("region", name="GPU Utilization of rank 0")
    expect(own).to_contain_text("iteration 1 (warm-up) left out")
    expect(own.locator(".bar-legend")).to_contain_text(re.compile(r"Transfer 3\.7.%.*Waiting 12\.6.%"))
    expect(own.locator(".bar-legend")).not_to_contain_text("Communication")


@pytest.mark.parametrize("real_run", ["mi300x"], indirect=True)
def test_the_sentence_leads_with_exposed_communication_where_it_is_large(
    page: Page, tensorboard: TensorBoard, real_run: str
) -> None:
    """Kernels that wait for other GPUs make none of them busy."""
    page.goto(tensorboard.page(run=real_run, view="gpus"))
    expect(page.locator(".headline h2")).to_have_text(
        re.compile(
            r"^GPU 2 computed 26\.5.% of the 16\.2.ms iteration \(mean of 3\), 66\.1.% was exposed communication\.$"
        )
    )
    expect(page.locator(".headline .model-line")).to_have_text(re.compile(r"^Idle longest for: queued, 3\.6.%\.$"))
