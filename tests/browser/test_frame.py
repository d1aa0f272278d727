"""The frame: picker, URL, theme, states of a profile, inside TensorBoard and on its own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OTHER_SAMPLES, sample
from tests.browser.serving import VIEWS, TensorBoard, running


def test_the_picker_lists_all(page: Page, tensorboard: TensorBoard) -> None:
    """Every profile is offered, in the order of the server, with what keeps it from being shown; what cannot be read
    stands at the end, with the reason."""
    page.goto(tensorboard.page(run="amp"))
    page.locator(".picker-button").first.click()
    profiles = sorted(tensorboard.profiles(), key=lambda each: each["state"] == "failed")
    expect(page.get_by_role("option").last).to_contain_text(profiles[-1]["message"])
    expect(page.get_by_role("option").locator(".capture-name")).to_have_text([each["name"] for each in profiles])
    ready = [each["name"] for each in profiles if each["state"] == "ready"]
    expect(page.get_by_role("option").filter(has_not=page.locator(".chip")).locator(".capture-name")).to_have_text(
        ready
    )
    assert 0 < len(ready) < len(profiles)


def test_the_picker_by_keyboard(page: Page, tensorboard: TensorBoard) -> None:
    """Typing narrows the list, the arrow keys choose, Enter opens, Esc leaves everything as it was."""
    page.goto(tensorboard.page(run="amp"))
    button = page.locator(".picker-button")
    expect(button).to_contain_text("amp")
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("recorded-")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("cpu")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(button).to_contain_text("cpu")
    expect(page.locator(".headline h2")).to_contain_text("no GPU work")
    expect(page).to_have_url(re.compile("p.dlprof.run=cpu"))


def test_a_long_list_of_profiles_opens_at_the_one_shown(page: Page, logdir: Path, tmp_path: Path) -> None:
    """The browser lays out only those near the ones in sight; the one shown is among these, wherever it stands."""
    database = next((logdir / "amp").glob("*.sqlite"))
    for number in range(120):
        run = tmp_path / "logs" / f"run{number:03}"
        run.mkdir(parents=True)
        os.link(database, run / database.name)
    with running(tmp_path / "logs", tmp_path / "cache") as server:
        page.goto(server.page(run="run100"))
        page.locator(".picker-button").click()
        expect(page.get_by_role("option")).to_have_count(120)
        # Estimated heights may be wrong by less than a pixel.
        mine = page.locator(".picker-option[aria-selected=true]")
        expect(mine).to_be_in_viewport(ratio=0.97)
        cut = """list => [...list.querySelectorAll("[role=option]")].filter((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return top < list.getBoundingClientRect().top - 1 && bottom > list.getBoundingClientRect().top + 1;
        }).length"""
        assert page.locator(".picker-scroll").evaluate(cut) == 0, "a whole row stands below the search"
        page.keyboard.type("run003")
        expect(page.get_by_role("option")).to_have_count(1)
        page.get_by_role("combobox").fill("")
        expect(page.locator(".picker-option.active[aria-selected=true]")).to_be_in_viewport(ratio=0.97)
        box, menu = mine.bounding_box(), page.locator(".picker-scroll").bounding_box()
        assert box is not None
        assert menu is not None
        assert abs(box["y"] + box["height"] / 2 - menu["y"] - menu["height"] / 2) < 2 * box["height"], "in the middle"
        for _ in range(3):
            page.keyboard.press("PageUp")
        expect(page.locator(".picker-option.active")).to_be_in_viewport(ratio=0.97)


def test_tab_begins_at_the_top(page: Page, tensorboard: TensorBoard) -> None:
    """Tab goes past what skips, and past the first line to the pages; a row of links or buttons is one stop."""
    page.goto(tensorboard.page(run="amp", view="iterations"))
    expect(page.get_by_role("group", name=re.compile("^Duration of"))).to_be_visible()
    expect(page.get_by_role("grid")).to_have_count(2)
    first = page.get_by_role("grid").first.get_attribute("aria-label")
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="Skip to the page")
    expect(skip).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name=f"Skip to the table: {first}")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="GPU Summary: to the Dashboard")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".picker-button")).to_be_focused()
    page.keyboard.press("Tab")
    pages = page.get_by_role("navigation", name="Pages").locator("a[tabindex='0']")
    expect(pages).to_have_text(["Iterations"])
    expect(pages).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("link", name="Timeline", exact=True)).to_be_focused()
    skip.focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_menus_by_keyboard(page: Page, tensorboard: TensorBoard) -> None:
    """The down arrow opens a menu at its first entry, the arrow keys walk round it, Esc closes it; nothing scrolls."""
    page.goto(tensorboard.page(run="amp"))
    button = page.get_by_role("button", name="More about Total Kernel GPU Time")
    button.focus()
    top = page.locator(".frame-main").evaluate("element => element.scrollTop")
    page.keyboard.press("ArrowDown")
    entries = page.get_by_role("group", name="More about Total Kernel GPU Time").get_by_role("link")
    expect(entries.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(entries.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(entries.last).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(entries.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(entries.last).to_be_focused()
    page.keyboard.press("Escape")
    expect(entries).to_have_count(0)
    expect(button).to_be_focused()
    assert page.locator(".frame-main").evaluate("element => element.scrollTop") == top


def test_ranks_are_told_apart(page: Page, tensorboard: TensorBoard) -> None:
    """A profile of one rank says which of how many."""
    page.goto(tensorboard.page(run="ddp/rank0"))
    expect(page.locator(".picker-button")).to_contain_text("rank 0")


@pytest.mark.parametrize("width", [480, 800, 1280, 1920])
def test_a_long_name_leaves_the_header_as_it_is(page: Page, tensorboard: TensorBoard, width: int) -> None:
    """However long the name of a run, brand, picker and tools stand beside each other."""
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(tensorboard.page(run="amp"))
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
    page.locator(".picker-run").first.evaluate("name => { name.textContent = 'a long name '.repeat(40) }")
    middles = [
        box["y"] + box["height"] / 2
        for place in (".brand", ".picker-button", ".frame-tools")
        if (box := page.locator(place).bounding_box()) is not None
    ]
    assert len(middles) == 3
    assert max(middles) - min(middles) < 3


@pytest.mark.parametrize("width", [320, 480, 760, 1280])
def test_the_list_of_profiles_fits_the_window(page: Page, tensorboard: TensorBoard, width: int) -> None:
    """However narrow the window, and wherever in its line the picker stands."""
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(tensorboard.page(run="amp"))
    page.locator(".picker-button").click()
    expect(page.get_by_role("listbox", name="Profiles")).to_be_visible()
    box = page.locator(".picker-menu").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), [(320, 640), (640, 400)])
def test_in_a_small_window_the_views_share_a_line(
    page: Page, tensorboard: TensorBoard, width: int, height: int
) -> None:
    """As at a zoom of 200 % and more: most of the window is the view's, and the current one stands in the line."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(tensorboard.page(run="amp", view="compare"))
    # Once the profiles are known, this takes a line above the views.
    expect(page.locator(".base-button")).to_be_visible()
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(links.last).to_be_in_viewport(ratio=0.9)
    tops = [box["y"] for link in links.all() if (box := link.bounding_box()) is not None]
    assert max(tops) - min(tops) < 2
    links.first.focus()
    expect(links.first).to_be_in_viewport(ratio=0.9)


def test_a_link_opens_the_same_picture(page: Page, tensorboard: TensorBoard) -> None:
    """Run, view, order, search, page, size, selection and pane all come from the URL, and stay through a reload."""
    page.goto(
        tensorboard.page(
            run="amp",
            view="ops",
            ops__sort="-calls",
            ops__search="e",
            ops__page="2",
            ops__size="10",
            ops__row="X_1",
            details="help",
        )
    )
    for _ in range(2):
        section = page.get_by_role("region", name="Ops", exact=True)
        expect(section.get_by_role("button", name="Page 2", exact=True)).to_have_attribute("aria-current", "page")
        expect(section.get_by_label("Search ops")).to_have_value("e")
        expect(section.get_by_label("Rows")).to_have_value("10")
        expect(section.get_by_role("columnheader", name=re.compile("^Calls"))).to_have_attribute(
            "aria-sort", "descending"
        )
        expect(page.get_by_role("heading", name="Kernels of X_1")).to_be_visible()
        expect(page.get_by_role("complementary", name="Help")).to_be_visible()
        page.reload()


def test_a_page_behind_the_last_one_becomes_the_last_one(page: Page, tensorboard: TensorBoard) -> None:
    """A link to page 9999 shows the last page instead of nothing."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__page="9999"))
    section = page.get_by_role("region", name="Ops", exact=True)
    expect(section.get_by_role("button", name="Next page")).to_be_disabled()
    expect(section.locator("tbody tr").first).to_be_visible()


def test_a_link_to_another_server_finds_the_run(page: Page, tensorboard: TensorBoard) -> None:
    """Where the id means nothing, run and file name do."""
    page.goto(tensorboard.page(profile="0123456789abcdef", run="cpu", capture="somewhere else"))
    expect(page.locator(".picker-button")).to_contain_text("cpu")


def test_an_edited_address_is_followed(page: Page, tensorboard: TensorBoard) -> None:
    """Who changes the address by hand gets what it says, without loading the page again."""
    page.goto(tensorboard.page(run="amp"))
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
    page.evaluate("location.hash += '&p.dlprof.view=ops'")
    expect(page.get_by_role("grid", name="Ops by Path")).to_be_visible()


def test_an_unknown_aggregation_is_explained(page: Page, tensorboard: TensorBoard, complaints: list[str]) -> None:
    """A link to an aggregation that the profile does not have gives the server's reason, and a way out."""
    page.goto(tensorboard.page(run="amp", profile=tensorboard.profile("amp")["id"], aggregation="999"))
    expect(page.get_by_role("alert")).to_contain_text("999")
    page.get_by_role("alert").get_by_role("link", name="Open the Dashboard").click()
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
    complaints[:] = [each for each in complaints if "status of 404" not in each]


def test_inside_tensorboard(page: Page, tensorboard: TensorBoard) -> None:
    """The tab is called GPU SUMMARY, keeps its state in TensorBoard's URL, and follows its theme."""
    page.goto(tensorboard.tab("?darkMode=true", run="amp"))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("region", name="Performance Summary")).to_be_visible()
    expect(page.get_by_role("tab", name=re.compile("gpu summary", re.IGNORECASE)).first).to_be_visible()
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    frame.get_by_role("link", name="Ops", exact=True).click()
    expect(page).to_have_url(re.compile("p.dlprof.view=ops"))
    page.evaluate("document.body.classList.remove('dark-mode')")
    expect(frame.locator("html")).to_have_attribute("data-theme", "light")
    page.go_back()
    expect(frame.get_by_role("region", name="Performance Summary")).to_be_visible()
    expect(page.locator("iframe[title='GPU Summary']")).to_have_count(1)


def test_a_view_opens_in_a_tab_of_its_own(page: Page, tensorboard: TensorBoard) -> None:
    """Entries of the menu are links: with Ctrl the browser opens the view of the same profile elsewhere, in
    TensorBoard, and this page stays."""
    page.goto(tensorboard.tab(run="amp"))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("region", name="Performance Summary")).to_be_visible()
    with page.context.expect_page() as opened:
        frame.get_by_role("link", name="Ops", exact=True).click(modifiers=["ControlOrMeta"])
    there = opened.value.frame_locator("iframe")
    expect(there.get_by_role("grid", name="Ops by Path")).to_be_visible()
    expect(there.locator(".picker-button")).to_contain_text("amp")
    expect(frame.get_by_role("region", name="Performance Summary")).to_be_visible()


@pytest.mark.parametrize("view", ["iterations", "modules"])
def test_a_link_has_what_was_moved_just_now(page: Page, tensorboard: TensorBoard, view: str) -> None:
    """A chart writes its zoom once the wheel rests; a link that is pressed before that leads there with the zoom."""
    page.goto(tensorboard.page(run="amp", view=view, groups__as="graph"))
    chart = page.locator(".iteration-bars, .graph-body").first
    expect(chart).to_be_visible()
    expect(page.get_by_role("link", name="Efficiency", exact=True)).not_to_have_attribute(
        "href", re.compile("from|place")
    )
    address = page.evaluate("""async () => {
        const chart = document.querySelector('.iteration-bars, .graph-body')
        const {x, y, width, height} = chart.getBoundingClientRect()
        chart.dispatchEvent(new WheelEvent('wheel', {
            deltaY: -300, clientX: x + width / 2, clientY: y + height / 2, bubbles: true, cancelable: true
        }))
        const link = [...document.querySelectorAll('.view-menu a')].find(each => each.textContent === 'Efficiency')
        link.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))
        return link.href
    }""")
    assert "view=efficiency" in address
    assert ("iterations.from" if view == "iterations" else "groups.place") in address


@pytest.mark.parametrize(
    ("view", "jump", "heading"),
    [
        ("dashboard", ".changes a:not(.whisker-link)", "Recommendations"),
        ("dashboard", ".more-menu a", "Ops"),
        ("dashboard", ".top-groups a", "Ops"),
        ("dashboard", "a.more-button:has-text('Iterations')", "Iterations"),
        ("recommendations", "a.evidence-key", "Ops"),
    ],
)
def test_a_jump_opens_in_a_tab_of_its_own(
    page: Page, tensorboard: TensorBoard, view: str, jump: str, heading: str
) -> None:
    """What leads to another view from within a page is a link as well; with Ctrl this page stays as it is."""
    page.goto(tensorboard.page(run="amp", view=view))
    if view == "recommendations":
        page.locator("summary").first.click()
    if jump.startswith(".more-menu"):
        page.get_by_role("button", name="More about Total Kernel GPU Time").click()
    link = page.locator(jump).first
    expect(link).to_be_visible()
    before = page.url
    assert before.count("#") == 1
    with page.context.expect_page() as opened:
        link.click(modifiers=["ControlOrMeta"])
    views = opened.value.get_by_role("navigation", name="Pages")
    expect(views.get_by_role("link", name=heading, exact=True)).to_have_attribute("aria-current", "page")
    expect(link).to_be_visible()
    assert page.url == before


def test_a_jump_is_not_hidden_by_old_filters(page: Page, tensorboard: TensorBoard) -> None:
    """What was narrowed in a view on an earlier visit does not hide what a link there is about."""
    profile = tensorboard.profile("amp")["id"]
    (op,) = tensorboard.get("table", profile=profile, table="efficiency", limit="1")["rows"]
    page.goto(
        tensorboard.page(
            run="amp", view="ops", ops__row=op["op_id"], eff__where__calls=">999999", eff__where__cause="nothing"
        )
    )
    page.locator(".ops-and-pane .details-pane").get_by_role("link", name="Efficiency").click()
    expect(page.locator('tr[aria-selected="true"]')).to_contain_text(op["op_id"])


def test_tensorboards_reload_asks_again(page: Page, tensorboard: TensorBoard) -> None:
    """TensorBoard's reload button makes the tab ask for its data again, without losing its place."""
    page.goto(tensorboard.tab(run="amp", view="ops", ops__page="2"))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("grid", name="Ops", exact=True)).to_be_visible()
    with page.expect_request(re.compile("data/plugin/dlprof/table")):
        page.locator(".reload-button").click()
    section = frame.get_by_role("region", name="Ops", exact=True)
    expect(section.get_by_role("button", name="Page 2", exact=True)).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize("width", [700, 1280, 1920])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_cut_off(page: Page, tensorboard: TensorBoard, width: int, view: str) -> None:
    """The page never scrolls sideways, only tables do, inside themselves; the header stays while it scrolls.

    It ends where its content ends: what only screen readers see does not make it longer.
    """
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(tensorboard.page(run="amp", view=view))
    expect(page.locator(".panel, .data-table, .message").first).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    # Some parts come later than the page, and are as likely to be cut off.
    page.wait_for_load_state("networkidle")
    page.wait_for_function(
        "[...document.querySelectorAll('html, body, .frame-main, .panel-body, .legend, .fact, .properties')]"
        ".every(element => element.scrollWidth <= element.clientWidth + 1)"
    )
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.locator(".frame-main").evaluate("element => element.scrollTo(0, 1e6)")
    expect(page.locator(".frame-header")).to_be_in_viewport(ratio=1)


def test_a_source_is_imported_when_opened(page: Page, tensorboard: TensorBoard) -> None:
    """Opening a trace without a database imports it and then shows its Dashboard, with no click."""
    page.goto(tensorboard.page(run="fp32"))
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
    assert tensorboard.profile("fp32")["state"] == "ready"


def test_a_broken_source_says_why(page: Page, tensorboard: TensorBoard) -> None:
    """A cut trace fails with the reason, what to do, and a way to try again."""
    page.goto(tensorboard.page(run="broken"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("could not be imported")
    profile = tensorboard.profile("broken")
    cause, remedy = profile["message"].removeprefix(profile["name"]).rsplit(" Record", 1)
    expect(alert).to_contain_text(f"It{cause}")
    expect(alert.get_by_role("listitem")).to_have_text([f"Record{remedy}"])
    expect(alert).to_contain_text(f"broken/{profile['name']} · ")
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()


@pytest.fixture(scope="module")
def without_import(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """TensorBoard that does not import, on one trace."""
    logs: Path = tmp_path_factory.mktemp("off") / "logs"
    (logs / "fp32").mkdir(parents=True)
    shutil.copy(sample(OTHER_SAMPLES["fp32"]), logs / "fp32")
    with running(logs, tmp_path_factory.mktemp("cache"), "--dlprof_import", "off") as server:
        yield server


def test_without_import_the_command_is_given(page: Page, without_import: TensorBoard) -> None:
    """With imports switched off the tab shows the command that does it."""
    page.goto(without_import.page())
    expect(page.get_by_role("main")).to_contain_text(f'dlprof import "{OTHER_SAMPLES["fp32"]}"')
    expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """TensorBoard on a log directory with nothing in it."""
    with running(tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("cache")) as server:
        yield server


def test_an_empty_log_directory_says_how_to_record(page: Page, empty: TensorBoard) -> None:
    """With no profile at all the tab explains how to make one."""
    page.goto(empty.page())
    main = page.get_by_role("main")
    expect(main).to_contain_text("No GPU profile in the log directory")
    expect(main.get_by_role("heading", level=3)).to_have_text(["PyTorch profiler", "Nsight Systems", "JAX", "DLProf"])
    expect(main.get_by_role("button", name=re.compile("^Copy"))).to_have_count(4)


def test_a_report_that_has_to_be_converted_is_told_of(page: Page, tmp_path: Path) -> None:
    """Who put a report of Nsight Systems into the log directory learns what makes it a profile."""
    (tmp_path / "logs" / "run").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "report1.nsys-rep").write_bytes(b"report")
    with running(tmp_path / "logs", tmp_path / "cache") as server:
        page.goto(server.page())
        main = page.get_by_role("main")
        expect(main).to_contain_text("run/report1.nsys-rep: a report of Nsight Systems")
        expect(main.locator("code").first).to_have_text("nsys export --type sqlite")
