"""The Timeline in a browser: opens on an iteration, leads from a gap to what ended it, and is what the URL says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import TensorBoard, viewing
from tests.shared_data import shared_data


def opened(page: Page, tensorboard: TensorBoard, run: str, **more: str) -> None:
    """Go to the Timeline of a run."""
    page.goto(tensorboard.page(run=run, view="timeline", **more))
    expect(page.locator(".timeline-canvas canvas").first).to_be_visible()


def test_a_gap_is_found_by_keyboard_and_kept_in_the_url(page: Page, tensorboard: TensorBoard) -> None:
    """N selects one, says it, and tells its cause and what ended it; Esc clears it."""
    opened(page, tensorboard, "amp")
    expect(page.locator(".timeline-head")).to_contain_text("of iteration")
    page.locator("body").press("n")
    expect(page.get_by_label("Details")).to_contain_text(re.compile(r"Gap of .*parts", re.DOTALL))
    expect(page.locator(".panel [role=status]").first).to_contain_text("Gap of")
    assert "p.dlprof.timeline.gap=" in page.url
    page.locator("body").press(".")  # what the GPU did after it, and what before that
    expect(page.get_by_label("Details")).to_contain_text(re.compile(r"kernel.*takes|copy.*takes", re.DOTALL))
    page.locator("body").press(",")
    expect(page.get_by_label("Details")).to_contain_text("Gap of")
    page.locator("body").press("Escape")
    expect(page.get_by_label("Details")).to_have_count(0)
    assert "timeline.gap" not in page.url


def test_the_first_gap_is_one_of_the_window(page: Page, tensorboard: TensorBoard, logdir: Path) -> None:
    """Not the half second after the last kernel. Where all of them are too short to be seen, the window goes closer."""
    if not (logdir / "tensorrt").is_dir():
        pytest.skip("needs ../shared/data")
    opened(page, tensorboard, "tensorrt")
    expect(page.locator(".timeline-head")).to_contain_text("from first to last GPU work")
    page.get_by_role("button", name="Next gap").click()
    expect(page.get_by_label("Details")).to_contain_text(re.compile(r"Gap of [\d.]+ (?:ns|µs) .*Queued", re.DOTALL))
    name = page.get_by_label("Details").locator("strong").first.inner_text()
    length = float(name.split()[2]) * (1 if name.endswith("ns") else 1_000)
    window = [int(re.search(rf"timeline\.{end}=(\d+)", page.url)[1]) for end in ("from", "to")]  # type: ignore[index]
    width = page.locator(".timeline-page canvas").bounding_box()["width"]  # type: ignore[index]
    assert length * width / (window[1] - window[0]) == pytest.approx(40, rel=0.1)


def test_the_window_moves_by_keys_and_the_tables_follow(page: Page, tensorboard: TensorBoard) -> None:
    """Closer, then all of the capture; the URL has the window once it rests."""
    opened(page, tensorboard, "amp")
    page.locator("body").press("w")
    page.wait_for_function("location.hash.includes('timeline.from')")
    before = page.url
    page.locator("body").press("f")
    page.wait_for_function("before => location.href !== before", arg=before)
    expect(page.locator(".timeline-head")).to_contain_text("of this window")
    page.locator("body").press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next gap")


def test_what_is_selected_is_summed_up_by_a_key(page: Page, tensorboard: TensorBoard) -> None:
    """As a drag over it does; what clears it stands in its corner, however narrow the window."""
    page.set_viewport_size({"width": 640, "height": 800})
    opened(page, tensorboard, "amp")
    page.locator("body").press("n")
    details = page.get_by_label("Details")
    expect(details).to_contain_text("Gap of")
    name = details.locator("strong").first.bounding_box()
    clear = details.get_by_role("button", name="Clear the selection").bounding_box()
    assert name is not None
    assert clear is not None
    assert clear["y"] < name["y"] + name["height"]
    page.locator("body").press(".")
    expect(details).to_contain_text("takes")
    length = details.locator("dd span").first.inner_text()
    page.locator("body").press("m")
    expect(details).to_contain_text(f"{length} selected")
    expect(page.locator(".timeline-head")).to_contain_text(f"{length} of this selection")


def test_the_sentence_says_a_time_once_and_whole(page: Page, tensorboard: TensorBoard) -> None:
    """Where one gap is all of the first cause, it is told with it; a narrow window cuts nothing off."""
    opened(page, tensorboard, "amp")
    said = page.locator(".timeline-answer .clip")
    expect(said).to_contain_text(re.compile(r"^[\d.]+ ms in the data loader \(in one gap before to\), "))
    page.set_viewport_size({"width": 420, "height": 800})
    for text in (said, page.locator(".timeline-head")):
        assert text.evaluate("(text) => text.scrollWidth - text.clientWidth") <= 0


def test_the_tracks_stay_where_they_are_while_the_window_moves(page: Page, tensorboard: TensorBoard) -> None:
    """However long the sentence above them is, and whether what is not shown is told: zooming holds what is there."""
    opened(page, tensorboard, "amp")
    canvas, head = page.locator(".timeline-page canvas"), page.locator(".timeline-head")
    expect(head).to_contain_text("of iteration")
    names = page.locator(".timeline-page .timeline-names")
    expect(names).to_contain_text(re.compile("ops · main.*API calls · main.*ops · backward", re.DOTALL))
    top = canvas.bounding_box()["y"]  # type: ignore[index]
    page.mouse.move(700, top + 60)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    expect(head).to_contain_text("of this window, in iteration")
    assert canvas.bounding_box()["y"] == top  # type: ignore[index]
    for key, details in (("f", 0), ("n", 1), ("Escape", 0)):
        page.locator("body").press(key)
        expect(page.get_by_label("Details")).to_have_count(details)
        expect(head).to_contain_text("of this window")
        assert canvas.bounding_box()["y"] == top, key  # type: ignore[index]


def test_zooming_leaves_the_lane_under_the_pointer_where_it_is(page: Page, tensorboard: TensorBoard) -> None:
    """However few of those above it have anything in the window: the next turn of the wheel, and a click, are on it."""
    opened(page, tensorboard, "amp")
    lane = page.locator(".timeline-names div", has_text=re.compile(r"^stream"))
    before = lane.bounding_box()
    assert before is not None
    page.mouse.move(700, before["y"] + before["height"] / 2)
    page.keyboard.down("Control")
    for _ in range(6):
        page.mouse.wheel(0, -200)
        page.wait_for_timeout(300)
    page.keyboard.up("Control")
    expect(page.locator(".timeline-names .timeline-empty").first).to_be_visible()
    assert lane.bounding_box() == before
    page.mouse.move(700, 10)
    page.locator("body").press("w")
    page.wait_for_function(
        "top => document.querySelector('.timeline-canvas').getBoundingClientRect().height < top", arg=250
    )
    folded = lane.bounding_box()
    assert folded is not None
    y = folded["y"] + folded["height"] / 2
    page.mouse.move(700, y)
    page.keyboard.down("Control")
    for _ in range(6):
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(300)
    page.keyboard.up("Control")
    expect(page.locator(".timeline-names .timeline-empty")).to_have_count(0)
    unfolded = lane.bounding_box()
    assert unfolded is not None
    assert unfolded["y"] <= y <= unfolded["y"] + unfolded["height"]


def test_what_is_told_at_the_pointer_goes_with_a_click_and_with_keys(page: Page, tensorboard: TensorBoard) -> None:
    """Until the pointer moves again: it would lie over what is told of the selection."""
    opened(page, tensorboard, "amp")
    box = page.locator(".timeline-page canvas").bounding_box()
    assert box is not None
    strip = page.locator(".timeline-names div", has_text="idle by cause").last.bounding_box()
    assert strip is not None
    tip = page.locator(".timeline-hover")
    middle = strip["y"] + strip["height"] / 2
    for place in range(20, int(box["width"]), 10):
        page.mouse.move(box["x"] + place, middle)
        if tip.count() > 0:
            break
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_label("Details")).to_contain_text("Gap of")
    expect(tip).to_have_count(0)
    page.mouse.move(box["x"] + place, middle + 2)
    expect(tip).to_have_count(1)
    page.locator("body").press("n")
    expect(tip).to_have_count(0)


def test_a_row_of_gaps_stays_marked_and_a_drag_keeps_the_legend(page: Page, tensorboard: TensorBoard) -> None:
    """The group that led to a gap, with the colour of its cause; what a drag lacks is still in the picture."""
    opened(page, tensorboard, "amp")
    groups = page.get_by_role("grid", name="Gaps by Cause and Op")
    groups.get_by_role("row").nth(2).click()
    expect(page.get_by_label("Details")).to_contain_text("Gap of")
    expect(groups.locator("[aria-selected=true] .swatch").first).to_be_visible()
    page.locator("body").press("Escape")
    expect(groups.locator("[aria-selected=true]")).to_have_count(0)
    legend = page.locator(".timeline-legend li")
    listed = legend.count()
    box = page.locator(".timeline-page canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 40, steps=3)
    page.mouse.up()
    expect(page.get_by_label("Details")).to_contain_text("selected")
    expect(page.locator(".timeline-head")).to_contain_text("of this selection")
    assert legend.count() == listed


def test_the_sentence_is_about_one_gpu_and_no_iteration_that_nobody_marked(
    page: Page, tensorboard: TensorBoard, logdir: Path
) -> None:
    """The GPU of the Dashboard; the gaps that it names are of that GPU, whatever the others do."""
    if not (logdir / "nsight").is_dir():
        pytest.skip("needs ../shared/data")
    opened(page, tensorboard, "nsight")
    head = page.locator(".timeline-head")
    expect(head).to_contain_text(re.compile(r"^GPU 0 is idle .* from first to last GPU work\.$"))
    expect(head).not_to_contain_text("iteration")
    largest = page.locator(".timeline-answer p")
    expect(largest).to_contain_text(re.compile(r"Idle longest before .*\.$"))
    op, gaps = re.search(r"before (\S+): .* in (\d+) gaps\.$", largest.inner_text()).groups()  # type: ignore[union-attr]
    rows = page.get_by_role("grid", name="Gaps of GPU 0 by Cause and Op").get_by_role("row")
    expect(rows.filter(has=page.get_by_role("gridcell", name=gaps, exact=True)).filter(has_text=op)).not_to_have_count(
        0
    )
    page.get_by_role("group", name="GPU").get_by_role("button", name="1").click()
    expect(head).to_contain_text(re.compile("^GPU 1 is idle"))
    expect(page.get_by_role("grid", name="Every Gap of GPU 1")).to_be_visible()


def test_the_sentence_leads_with_what_is_exposed_where_that_is_more_than_idle(
    page: Page, tensorboard: TensorBoard, logdir: Path
) -> None:
    """It takes most of the iteration, beside which the gaps are nothing; the time is that of the legend."""
    if not (logdir / "mi300x").is_dir():
        pytest.skip("needs ../shared/data")
    opened(page, tensorboard, "mi300x")
    legend = page.locator(".timeline-legend li", has_text="Communication, exposed").locator(".number")
    share = r" \(\d\d\.\d %\) of the [\d.]+.ms of iteration \d+ is exposed communication; the GPU is idle for"
    expect(page.locator(".timeline-head")).to_contain_text(re.compile("^" + re.escape(legend.inner_text()) + share))


def test_the_sentence_names_what_is_exposed_where_idle_time_is_more(page: Page, tensorboard: TensorBoard) -> None:
    """It may be half of the rest, as where one iteration ends and the next begins."""
    opened(page, tensorboard, "ddp/rank0", timeline__from="57600000", timeline__to="59600000")
    legend = page.locator(".timeline-legend li", has_text="Communication, exposed").locator(".number")
    named = r"is idle .* of this window; {} \(\d\d\.\d %\) is exposed communication\.$"
    expect(page.locator(".timeline-head")).to_contain_text(re.compile(named.format(re.escape(legend.inner_text()))))
    opened(page, tensorboard, "ddp/rank0")
    said = page.locator(".timeline-answer p")
    expect(said).to_contain_text(re.compile(r"Idle longest before to: [\d.]+ µs in one gap\.$"))


@pytest.mark.parametrize("real_run", ["xplane/mi300x_jax_attention"], indirect=True)
def test_an_iteration_much_longer_than_the_typical_one_is_told_beside_it(
    page: Page, real_run: str, tmp_path: Path
) -> None:
    """It takes most of the overview, and a click shows it; of itself, nothing more is said."""
    (trace,) = (shared_data() / real_run).glob("*.xplane.pb")
    with viewing(trace, tmp_path / "cache") as viewer:
        page.goto(viewer.page(view="timeline"))
        page.get_by_role("link", name=re.compile(r"^iteration 8 took 20\.9 ms$")).click()
        expect(page.locator(".timeline-head")).to_contain_text("of the 20.9 ms of iteration 8")
        expect(page.locator(".timeline-answer")).not_to_contain_text("typical")


PERFETTO = """<script>
addEventListener("message", ({data, source, origin}) => {
  if (data === "PING") source.postMessage("PONG", origin);
  else if (data.perfetto) window.given = {...data.perfetto, text: new TextDecoder().decode(data.perfetto.buffer)};
});
</script>"""
"""Answers as ui.perfetto.dev does, and keeps what it is given."""


def test_a_finding_leads_to_its_moment_and_the_window_to_perfetto(page: Page, tensorboard: TensorBoard) -> None:
    """What it names is selected there; Perfetto is given the trace of the window by the click, once it answers."""
    page.goto(tensorboard.page(run="amp", view="recommendations"))
    page.get_by_role("list", name="On the timeline").first.get_by_role("link").first.click()
    expect(page.get_by_label("Details")).to_contain_text(re.compile("Gap of|takes"))
    page.locator("body").press("Escape")
    expect(page.get_by_label("Details")).to_have_count(0)
    page.locator("body").press("f")  # all of the capture: the call of a kernel may be long before it
    expect(page.get_by_role("region", name="Launches")).to_contain_text("Queue Length")
    page.context.route(
        "https://ui.perfetto.dev/**", lambda route: route.fulfill(content_type="text/html", body=PERFETTO)
    )
    with page.expect_popup() as opened_page:
        page.get_by_role("button", name="Open in Perfetto").click()
    perfetto = opened_page.value
    perfetto.wait_for_function("window.given !== undefined")
    given = perfetto.evaluate("window.given")
    assert given["fileName"] == "trace.json"
    assert given["title"]
    events = json.loads(given["text"])["traceEvents"]
    assert {"kernel", "cuda_runtime", "idle"} <= {event.get("cat") for event in events}


def test_a_long_warm_up_does_not_take_the_width_of_the_overview(page: Page, tmp_path: Path) -> None:
    """The overview begins with what is aggregated, says so, and shows all when asked to."""
    starts = [0, *range(50_000, 55_000, 1_000)]
    events = []
    for step, start in enumerate(starts):
        long = 50_000 if step == 0 else 1_000
        ids = {"External id": step + 1, "correlation": step + 1}
        for name, category, at, duration, thread in (
            (f"ProfilerStep#{step}", "user_annotation", start, long, 1),
            ("aten::relu", "cpu_op", start + 10, 50, 1),
            ("cudaLaunchKernel", "cuda_runtime", start + 20, 20, 1),
            ("relu_kernel", "kernel", start + 100, 700, 7),
        ):
            of_gpu = {"device": 0, "stream": 7} if category == "kernel" else {}
            times = {"ph": "X", "ts": at, "dur": duration, "pid": 0 if of_gpu else 1, "tid": thread}
            events.append({"name": name, "cat": category, **times, "args": {**ids, **of_gpu}})
    trace = tmp_path / "logs" / "warm.pt.trace.json"
    trace.parent.mkdir()
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    with viewing(trace, tmp_path / "cache") as viewer:
        page.goto(viewer.page(view="timeline"))
        expect(page.locator(".timeline-left-out")).to_have_text("Not shown: 50.0 ms before. Show the whole recording")
        page.get_by_role("button", name="Show the whole recording").click()
        expect(page.locator(".timeline-left-out")).to_have_count(0)
        page.wait_for_function("location.hash.includes('timeline.from=0')")
        causes = page.locator(".timeline-answer p")
        expect(causes).to_contain_text(re.compile(r"^[\d.]+ ms while nothing was recorded on the host"))


def test_the_overview_shows_ops_however_few_they_are(page: Page, tensorboard: TensorBoard) -> None:
    """Without a GPU it shows what the host did: op by op where the tracks below do."""
    page.goto(tensorboard.page(run="cpu", view="timeline"))
    page.wait_for_function("""() => {
      const map = document.querySelector(".timeline-minimap canvas");
      if (map === null || map.width < 100) return false;
      const row = map.getContext("2d").getImageData(0, 10, map.width, 1).data;
      return new Set(new Uint32Array(row.buffer)).size > 2;
    }""")


def test_the_next_hit_is_wide_enough_to_be_seen_and_still_one_of_those_counted(
    page: Page, tensorboard: TensorBoard
) -> None:
    """The window goes closer to it; what is counted are those of the window that was searched."""
    opened(page, tensorboard, "amp")
    search, said = page.get_by_label("Search kernels and ops"), page.locator(".timeline-bar [role=status]")
    search.fill("batch_norm")
    expect(said).to_have_text(re.compile(r"^\d+ here$"))
    count = said.inner_text().split()[0]
    for number in (1, 2):
        search.press("Enter")
        expect(said).to_have_text(f"{number} of {count}")
        assert "timeline.from" in page.url


def test_a_search_that_fails_counts_nothing(page: Page, tensorboard: TensorBoard, complaints: list[str]) -> None:
    """Beside it stands how often a text is found in the window: without an answer neither a number nor a reason."""
    opened(page, tensorboard, "amp")
    search, next_hit = page.get_by_label("Search kernels and ops"), page.get_by_role("button", name="Next hit")
    search.fill("conv")
    expect(next_hit).to_be_visible()
    page.route("**/timeline_hits**", lambda route: route.fulfill(status=500, body="out of order"))
    with page.expect_event("requestfinished", lambda request: "timeline_hits" in request.url):
        search.fill("no such kernel")
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(next_hit).to_have_count(0, timeout=5_000)
    complaints.clear()


def test_queued_time_that_lacks_work_is_hatched_as_on_the_dashboard(
    page: Page, tensorboard: TensorBoard, logdir: Path
) -> None:
    """Where a finding says that work is missing, and nowhere else."""
    opened(page, tensorboard, "amp")
    legend = page.locator(".timeline-legend")
    expect(legend).to_contain_text("Queued")
    expect(legend.locator(".striped")).to_have_count(0)
    if not (logdir / "megatron").is_dir():
        pytest.skip("needs ../shared/data")
    opened(page, tensorboard, "megatron")
    expect(legend.locator("li", has=page.locator(".striped"))).to_contain_text("Queued")
    # The first one, which is no queued time, has to be selected before the next can be asked for.
    page.get_by_role("button", name="Next gap").first.click()
    expect(page.get_by_role("button", name="Clear the selection")).to_be_visible()
    page.get_by_role("button", name="Next gap").first.click()
    details = page.locator("p", has=page.locator(".swatch.striped"))
    expect(details).to_contain_text("Queued: Work was launched and did not begin")
