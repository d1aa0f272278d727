"""Ranks of one job: from the picker to the job, to a cell, to the rank's pages, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tensorboard_plugin_dlprof.metadata import RANK_SUFFIX
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_ranks_of
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tests.browser.serving import TensorBoard, running
from tests.browser.test_accessibility import MOST_STOPS, check, stops_to_row
from tests.ranks.jobs import import_into, made_in


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """Twelve ranks of two hosts, of which two are imported with all of their pages; rank 1 costs time."""
    logs = tmp_path_factory.mktemp("many")
    traces = write_job(Plan(tensor=2, data=6, straggler=1, ranks_a_host=6, iterations=3), logs / "job")
    import_into(logs / "job", traces[:2], logs / "job")
    for path in traces[2:]:
        target = path.with_name(path.name.partition(".")[0] + RANK_SUFFIX)
        import_ranks_of(path, target, ImportOptions(), lambda _stage, _fraction: None)
    made_in(logs / "job")
    with running(logs, tmp_path_factory.mktemp("cache")) as server:
        yield server


def test_from_the_job_to_a_rank_and_back(page: Page, many: TensorBoard) -> None:
    """The iteration that was looked at is kept from rank to rank; all of a job's ranks stand under one entry."""
    page.goto(many.page(run="job/host0"))
    page.locator(".picker-button").first.click()
    options = page.get_by_role("listbox", name="Profiles").get_by_role("option")
    expect(options).to_have_count(1 + 8)
    expect(page.locator(".picker-more")).to_contain_text("4 more ranks")
    page.keyboard.type("rank11")
    expect(options.last).to_contain_text("rank 11")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Backspace")
    options.filter(has_text="ranks compared").click()
    expect(page.locator(".rank-verdict")).to_contain_text("Rank 1 (host host0")
    cells = page.get_by_role("application", name=re.compile("^Cost"))
    cells.focus()
    for key in ("End", "PageDown", "PageUp", "Home", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_role("status").filter(has_text="Rank 1, iteration 4")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Open rank 1 at iteration 4")).to_be_visible()
    expect(page).to_have_url(re.compile(r"ranks\.cell=1\.4"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"view=iterations.*"))
    expect(page).to_have_url(re.compile(r"iterations\.from=4"))
    page.get_by_role("link", name="GPUs and Ranks").click()
    page.locator(".rank-bars").get_by_role("link", name="Rank 0", exact=True).first.click()
    expect(page.locator(".rank-note")).to_contain_text("Rank 0 of 12 waits for others")
    expect(page).to_have_url(re.compile(r"iterations\.from=4"))
    page.locator(".rank-note").get_by_role("link", name="See the job").click()
    page.locator(".rank-table").get_by_role("button").first.click()
    expect(page.locator(".rank-instances .rank-bars")).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    check(page)


def test_ranks_are_compared_on_the_page(page: Page, tmp_path: Path) -> None:
    """Nobody made their job: a look at the page does where they are small, and then it is that of the job."""
    write_job(Plan(tensor=2, data=2, straggler=1, ranks_a_host=2), tmp_path / "logs" / "run")
    with running(tmp_path / "logs", tmp_path / "cache") as server:
        page.goto(server.page(run="run/host1"))
        # What is missing is said where the list is that it joins.
        page.get_by_role("link", name="Recommendations").click()
        note = page.locator(".rank-note")
        expect(note).to_have_text("Compare the ranks to see what holds up the whole job.")
        note.get_by_role("link", name="Compare the ranks").click()
        expect(page.locator(".rank-verdict")).to_contain_text("Rank 1 (host host0")
        expect(page.get_by_role("button", name="Compare the ranks")).to_have_count(0)
        page.get_by_role("link", name="Recommendations").click()
        hide = page.get_by_role("article", name="Hide communication")
        expect(hide).to_contain_text("is a wait for other ranks")
        expect(note).to_have_count(0)


def test_the_verdict_leads_to_its_collective_and_iterations_are_looked_at_closer(page: Page, many: TensorBoard) -> None:
    """The row of the collective opens; a range of iterations is in the URL, and keys change it."""
    page.goto(many.page(run="job/host0", view="gpus"))
    page.get_by_role("link", name="Show the collective").click()
    opened = page.locator(".rank-table tr.selected")
    expect(opened).to_be_in_viewport()
    expect(opened.get_by_role("link", name="Rank 1", exact=True)).to_be_visible()
    expect(opened.get_by_role("button")).to_be_focused()
    expect(page.locator(".rank-operations")).to_contain_text("waiting")
    # The worst are told, the others on demand.
    told = page.locator(".rank-operations li")
    expect(told).to_have_count(7)
    told.last.get_by_role("button", name="more").click()
    expect(told.nth(7)).to_contain_text("waiting")
    cells = page.get_by_role("application", name=re.compile("^Cost"))
    cells.scroll_into_view_if_needed()
    box = cells.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 60, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"ranks\.from=4&.*ranks\.to=5"))
    expect(page).not_to_have_url(re.compile(r"ranks\.cell"))
    expect(page.locator(".heat-map")).to_contain_text("2 of 3 iterations")
    expect(page.locator(".heat-each")).to_have_text(["iteration 4", "5"])
    page.mouse.move(0, 0)
    cells.focus()
    for key in ("Home", "ArrowDown", "End", "+"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(r"ranks\.from=5&.*ranks\.to=5"))
    expect(page.get_by_role("status").filter(has_text="Rank 1, iteration 5")).to_be_visible()
    expect(page.locator(".heat-map")).to_contain_text("1 of 3 iterations")  # drawn, not only in the URL
    page.keyboard.press("-")
    expect(page.locator(".heat-map")).to_contain_text("2 of 3 iterations")
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile(r"ranks\.from"))
    expect(page.locator(".heat-each")).to_have_text(["iteration 3", "4", "5"])


def test_ranks_are_looked_at_closer(page: Page, many: TensorBoard) -> None:
    """Of hundreds of ranks, those of a drag are shown with their names, in the table, too."""
    page.goto(many.page(run="job/host0", view="gpus"))
    cells = page.get_by_role("application", name=re.compile("Cost of 12 rows in 3 columns"))
    cells.scroll_into_view_if_needed()
    box = cells.bounding_box()
    assert box is not None
    row = box["height"] / 12
    page.mouse.move(box["x"] + 40, box["y"] + 1.5 * row)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 4.5 * row, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"ranks\.rows=2-5"))
    expect(page).not_to_have_url(re.compile(r"ranks\.(cell|from)"))
    expect(page.locator(".heat-rows li")).to_have_text(["Rank 1 (this)", "Rank 2", "Rank 3", "Rank 4"])
    expect(page.locator(".heat-map")).to_contain_text("4 of 12 ranks")
    closer = page.get_by_role("application", name=re.compile("Cost of 4 rows in 3 columns"))
    page.mouse.move(0, 0)
    closer.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("status").filter(has_text="Rank 2, iteration 3")).to_be_visible()
    page.keyboard.press("-")
    expect(page.locator(".heat-map")).to_contain_text("8 of 12 ranks")
    expect(page.get_by_role("status").filter(has_text="Rank 2, iteration 3")).to_be_visible()
    page.get_by_role("button", name="Table").click()
    table = page.locator(".rank-table-frame").first
    expect(table.locator("tbody tr")).to_have_count(8)
    table.get_by_role("button", name="Show all").click()
    expect(table.locator("tbody tr")).to_have_count(12)
    expect(page).not_to_have_url(re.compile(r"ranks\.rows"))


def test_delays_are_told_of_an_iteration_as_the_sentence_tells_them(page: Page, many: TensorBoard) -> None:
    """Beside the bars, too, and tiles say of which iterations they are; the rank that is open is named as such."""
    page.goto(many.page(run="job/host0", view="gpus"))
    expect(page.locator(".rank-verdict")).to_contain_text(re.compile(r"Rank 1 .* costs about 1\.\d+\sms of each"))
    expect(page.locator(".rank-bars li").nth(2).locator(".rank-delay")).to_have_text(re.compile(r"^1\.\d+$"))
    expect(page.locator(".rank-tiles")).to_contain_text(re.compile(r"lost to imbalance\s*of all ranks' time, waiting"))
    expect(page.locator(".heat-rows")).to_contain_text("Rank 1 (this)")
    card = page.get_by_role("article", name="Rank 1 is a straggler")
    expect(card.locator(".finding-gain")).to_have_text(re.compile(r"^about 1\.\d+\sms\d\d\.\d\s%$"))
    expect(card.locator("p").first).not_to_contain_text("costs about")
    # What is noise beside the largest is told alike, in the map and in its table.
    page.get_by_role("button", name="Table").click()
    expect(page.locator(".heat-map td.muted").first).to_be_visible()
    assert set(page.locator(".heat-map td.muted").all_inner_texts()) <= {"<0.012", "0"}
    assert not any("<" in text for text in page.locator(".heat-map td:not(.muted)").all_inner_texts())
    page.get_by_role("button", name="Table").click()
    expect(page.locator(".heat-map")).to_contain_text(re.compile(r"no number: below 0\.012\sms"))
    page.get_by_text("Own delay", exact=True).click()
    expect(page.get_by_role("application", name=re.compile("^Own delay of 12 rows"))).to_be_visible()


def test_a_rank_is_divided_alike_in_all_bars(page: Page, many: TensorBoard) -> None:
    """Those of all ranks and its own have the same parts in the same colours, and the share beside its own is of it."""
    page.goto(many.page(run="job/host0", view="gpus"))
    swatches = """list => [...list.querySelectorAll("li:has(.swatch)")].map((part) => [
        part.textContent.replace(/[\\d.,]+\\s%$/, "").trim(),
        getComputedStyle(part.querySelector(".swatch")).backgroundColor,
    ])"""
    own = page.locator(".bar-legend").evaluate(swatches)
    across = page.locator(".rank-legend").evaluate(swatches)
    assert {"Tensor Cores", "Waiting"} <= {label for label, _ in own}
    assert [part for part in across if part in own] == own
    expect(page.locator(".gpu-head")).to_have_text(re.compile(r"^the mean of \d+ iterations, [\d.]+\sms ?computing$"))


def test_the_bars_of_all_ranks_are_one_tab_stop(page: Page, many: TensorBoard) -> None:
    """Up and down walk over them: a job of many ranks has its tables in reach."""
    page.goto(many.page(run="job/host0", view="gpus"))
    ranks = page.locator(".rank-bars").first.get_by_role("link")
    expect(ranks).to_have_count(12)
    expect(page.locator(".rank-table tbody tr").first).to_be_visible()
    expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    assert stops_to_row(page) <= MOST_STOPS
    ranks.first.focus()
    page.keyboard.press("ArrowDown")
    expect(ranks.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(ranks.last).to_be_focused()


@pytest.mark.parametrize("width", [640, 1280])
def test_the_heat_map_is_as_high_as_what_stood_in_its_place(page: Page, many: TensorBoard, width: int) -> None:
    """Its head has the unit, the named rank is marked; below it nothing moves once it is there."""
    page.set_viewport_size({"width": width, "height": 900})
    held: list[Route] = []
    page.route(re.compile("job_cells"), lambda route: held.append(route))
    page.goto(many.page(run="job/host0", view="gpus"))
    panel = page.get_by_role("region", name="Ranks and Iterations")
    expect(panel.locator(".skeleton")).to_be_visible()
    to_come = panel.bounding_box()
    for route in held:
        route.continue_()
    expect(panel.locator(".heat-head")).to_have_text("Cost (ms)")
    expect(panel.locator(".heat-named")).to_have_text("Rank 1 (this)")
    drawn = panel.bounding_box()
    assert to_come is not None
    assert drawn is not None
    assert abs(drawn["height"] - to_come["height"]) <= 2
