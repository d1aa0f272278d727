"""Group Ops: levels, folding, filter, links between tree, icicle and tables, keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import TensorBoard
from tests.shared_data import shared_data_or_none
from tests.waiting import wait_for


def nodes_of(tensorboard: TensorBoard, run: str) -> dict[str, list[Any]]:
    """The tree as the server sends it, by columns."""
    answer: dict[str, list[Any]] = tensorboard.get("groups", profile=tensorboard.profile(run)["id"])["nodes"]
    return answer


def shown(page: Page) -> Locator:
    """The rows of the tree that are drawn."""
    return page.get_by_role("treegrid").locator(".tree-row")


def row(page: Page, path: str) -> Locator:
    """The row of a path."""
    return shown(page).filter(has=page.locator(f'.tree-label[data-tip="{path}"]'))


@pytest.fixture
def opened(page: Page, tensorboard: TensorBoard) -> Page:
    """Group Ops of the AMP sample, with every op."""
    page.goto(tensorboard.page(run="amp", view="modules", groups__fold="no", groups__all="yes"))
    expect(shown(page).first).to_be_visible()
    return page


def test_levels(opened: Page, tensorboard: TensorBoard) -> None:
    """Collapse all leaves the roots, expand all shows every node, to level 2 the roots and their children."""
    nodes = nodes_of(tensorboard, "amp")
    table = opened.get_by_role("treegrid")
    opened.get_by_role("button", name="Collapse all").click()
    roots = nodes["parent"].count(-1)
    expect(table).to_have_attribute("aria-rowcount", str(roots + 1))
    opened.get_by_label("To level").select_option("2")
    second = sum(parent >= 0 and nodes["parent"][parent] == -1 for parent in nodes["parent"])
    expect(table).to_have_attribute("aria-rowcount", str(roots + second + 1))
    opened.get_by_role("button", name="Expand all").click()
    expect(table).to_have_attribute("aria-rowcount", str(len(nodes["name"]) + 1))
    expect(shown(opened), "only rows in view are drawn").not_to_have_count(len(nodes["name"]))
    opened.reload()
    expect(table).to_have_attribute("aria-rowcount", str(len(nodes["name"]) + 1))


def iterations_of(tensorboard: TensorBoard) -> int:
    """How many iterations the sums of the tree are of."""
    count: int = tensorboard.dashboard("amp")["performance"]["profiled_iterations"]
    assert count > 1
    return count


def rounded(value: float) -> int:
    """As the page rounds, half up."""
    return int(value + 0.5)


def test_sums_are_the_servers(opened: Page, tensorboard: TensorBoard) -> None:
    """The root row has the means of an iteration, exact on hover, and at a click the sums of the tree."""
    nodes = nodes_of(tensorboard, "amp")
    root, count = nodes["name"].index("/"), iterations_of(tensorboard)
    cells = row(opened, "/").get_by_role("gridcell")
    opened.set_viewport_size({"width": 1920, "height": 900})
    expect(opened.get_by_role("columnheader", name="CPU Time")).to_be_visible()
    headings = opened.get_by_role("treegrid").get_by_role("columnheader").all_inner_texts()
    for iterations in (count, 1):
        expect(cells.nth(headings.index("Calls"))).to_have_text(f"{nodes['calls'][root] // iterations:,}")
        for label, key in (("CPU Time", "cpu_time_ns"), ("GPU Time", "gpu_time_ns"), ("Could Gain", "gain_ns")):
            column = next(place for place, heading in enumerate(headings) if heading.startswith(label))
            tip = cells.nth(column).locator(".number").get_attribute("data-tip") or ""
            assert f"{rounded(nodes[key][root] / iterations):,} ns" in tip
        opened.locator(".icicle-note .sum-note").click()
    expect(opened.locator(".icicle-note .sum-note")).to_have_text(f"per iteration, mean of {count}")


def test_order_within_siblings(opened: Page) -> None:
    """By name, siblings stand from A to Z, each below its own parent still."""
    opened.get_by_label("To level").select_option("3")
    opened.get_by_role("columnheader", name="Module").get_by_role("button").click()
    expect(opened.get_by_role("columnheader", name="Module")).to_have_attribute("aria-sort", "ascending")
    tips = shown(opened).locator(".tree-label").evaluate_all("all => all.map(each => each.dataset.tip)")
    second = [tip for tip in tips if re.fullmatch(r"/[^/]+/", tip)]
    assert second == sorted(second, key=str.lower)


def test_a_selection_shows_ops_and_kernels(opened: Page, tensorboard: TensorBoard) -> None:
    """Selecting a row marks its levels, selects its box in the icicle, and fills ops and kernels; the link keeps it."""
    opened.get_by_label("To level").select_option("3")
    label = shown(opened).nth(2).locator(".tree-label")
    path = label.get_attribute("data-tip") or ""
    label.click()
    expect(row(opened, path)).to_have_attribute("aria-selected", "true")
    expect(row(opened, "/")).to_have_class(re.compile("in-chain"))
    expect(opened.locator(".icicle-box.selected")).to_have_count(1)
    profile = tensorboard.profile("amp")["id"]
    for table, region in (("ops_of_group", "Ops of"), ("kernels_of_group", "Kernels of")):
        answer = tensorboard.get("table", profile=profile, table=table, group=path, limit="10")
        section = opened.get_by_role("region", name=f"{region} {path}", exact=True)
        expect(section.locator("tbody tr")).to_have_count(len(answer["rows"]))
        expect(section).to_contain_text(f"of {answer['filtered']:,}")
    opened.reload()
    expect(row(opened, path)).to_have_attribute("aria-selected", "true")


def test_causes_of_a_group(opened: Page, tensorboard: TensorBoard) -> None:
    """The row of a group names the main cause and its time, its tooltip all; a click on one narrows the ops below."""
    answer = tensorboard.get("groups", profile=tensorboard.profile("amp")["id"])
    root = answer["nodes"]["name"].index("/")
    below = sorted((each for each in answer["causes"] if each["ops"][root]), key=lambda each: -each["kernel_ns"][root])
    cell = row(opened, "/").locator(".cause-cell")
    expect(cell).to_contain_text(below[0]["label"])
    for each in below:
        mean = rounded(each["kernel_ns"][root] / iterations_of(tensorboard))
        tip = re.compile(rf"{each['label']}: .*{mean:,} ns.* in {each['ops'][root]:,} op")
        expect(cell).to_have_attribute("data-tip", tip)
    row(opened, "/").locator(".tree-label").click()
    selected = opened.get_by_role("complementary").get_by_role("button", name=below[0]["label"])
    selected.click()
    section = opened.get_by_role("region", name="Ops of All work", exact=True)
    expect(section).to_contain_text(f"of {below[0]['ops'][root]:,} ")
    selected.click()
    expect(selected).to_have_attribute("aria-pressed", "false")


def test_causes_in_dlprofs_own_database(page: Page, tensorboard: TensorBoard) -> None:
    """They are worked out while the tree stands already, and then shown; the graph tells them of a node."""
    if shared_data_or_none() is None:
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    page.goto(tensorboard.page(run="dlprof", view="modules"))
    expect(row(page, "/").locator(".cause-cell")).to_contain_text("FP32 tensors")
    page.goto(tensorboard.page(run="dlprof", view="modules", groups__as="graph"))
    page.locator(".graph-node").first.click()
    pane = page.get_by_role("complementary")
    expect(pane).to_contain_text(re.compile("FP32 tensors, 250 µs in 2 ops"))
    expect(pane).to_contain_text(re.compile("Too small, 10.3 µs in 3 ops"))


def test_a_gain_that_is_known_of_a_part_is_marked(page: Page, tensorboard: TensorBoard) -> None:
    """With how much it is known of; not that of an op, which is known or not."""
    if shared_data_or_none() is None:
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    page.goto(tensorboard.page(run="dlprof", view="modules"))
    cell = row(page, "/").get_by_role("gridcell").filter(has_text=re.compile(r"^\* \d"))
    expect(cell.locator(".number")).to_have_attribute("data-tip", re.compile(r"Known for 5\.3 % of the kernel time"))
    expect(page.locator(".tree-narrow")).to_contain_text("* Counts only the ops whose work is known.")
    expect(shown(page).filter(has=page.locator(".tree-op", has_text="max_pool2d")).first).not_to_contain_text("*")


def test_order_by_limited_time(opened: Page, tensorboard: TensorBoard) -> None:
    """The level below the root, the groups with the most limited time first."""
    answer = tensorboard.get("groups", profile=tensorboard.profile("amp")["id"])
    nodes = answer["nodes"]
    opened.get_by_role("columnheader", name="Why Not on TC").get_by_role("button").click()
    opened.get_by_label("To level").select_option("2")
    tips = shown(opened).locator(".tree-label").evaluate_all("all => all.map(each => each.dataset.tip)")
    times = {
        f"/{nodes['name'][place]}{'/' if nodes['op_id'][place] is None else ''}": sum(
            each["kernel_ns"][place] for each in answer["causes"]
        )
        for place, parent in enumerate(nodes["parent"])
        if parent == nodes["name"].index("/")
    }
    second = [times[tip] for tip in tips if tip in times]
    assert len(second) > 1
    assert second == sorted(second, reverse=True)


def test_the_icicle_selects_in_the_tree(opened: Page) -> None:
    """A click on a deep box opens the levels above its row and brings it into view."""
    opened.get_by_role("button", name="Collapse all").click()
    box = opened.locator(".icicle-box").nth(4)
    path = (box.get_attribute("data-tip") or "").splitlines()[0]
    box.click()
    expect(row(opened, path)).to_have_attribute("aria-selected", "true")
    expect(row(opened, path)).to_be_in_viewport()
    opened.get_by_role("application", name=re.compile("Icicle")).focus()
    opened.keyboard.press("ArrowUp")
    expect(opened.locator(".tree-row[aria-selected=true] .tree-label")).not_to_have_attribute("data-tip", path)


def test_filter_by_path(opened: Page) -> None:
    """Patterns leave the matching paths and the levels above, in any case; nonsense says that nothing matches."""
    field = opened.get_by_label("Filter by path")
    field.fill("**/conv2d")
    matches = opened.locator(".tree-row.match .tree-label")
    expect(matches.filter(has_text=re.compile("^conv2d$")).first).to_be_visible()
    expect(matches.filter(has_text=re.compile("^Conv2d$")).first).to_be_visible()
    expect(matches.filter(has_not_text=re.compile("^conv2d$", re.IGNORECASE))).to_have_count(0)
    expect(row(opened, "/")).to_be_visible()
    field.fill("*/no such level")
    expect(opened.get_by_text("No path matches the filter.")).to_be_visible()


def test_an_export_says_that_it_is_of_all_groups(opened: Page) -> None:
    """Whatever the filter leaves in the tree, a file holds all groups, and the menu says so."""
    opened.get_by_role("button", name="Export").first.click()
    menu = opened.get_by_role("group", name="Export All Groups")
    expect(menu).to_contain_text("All groups, all columns")
    opened.get_by_label("Filter by path").fill("conv")
    opened.get_by_role("button", name="Export").first.click()
    expect(menu).to_contain_text("All groups, not only those shown, all columns")


def test_the_colour_and_the_treemap(page: Page, tensorboard: TensorBoard) -> None:
    """What colours the boxes is a choice that the link keeps; the treemap has the same boxes and selection."""
    page.goto(tensorboard.page(run="amp", view="modules"))
    icicle = page.locator(".icicle-chart")
    expect(icicle.locator(".shade-high").first).to_be_visible()
    page.get_by_role("group", name="Colour").get_by_role("button", name="Bound by").click()
    expect(icicle.locator(".shade-compute").first).to_be_visible()
    expect(icicle.locator(".shade-high")).to_have_count(0)
    page.get_by_role("button", name="Treemap").click()
    box = page.locator(".treemap .shade-compute").last
    expect(box).to_be_visible()
    box.click()
    expect(page.locator(".treemap .selected")).to_have_count(1)
    expect(page.locator(".treemap .selected-frame")).to_have_count(1)
    # A click frames what it selects, not the whole picture, and marks no text.
    page.get_by_role("button", name="Icicle").click()
    icicle.locator(".icicle-box").nth(1).dblclick()
    expect(icicle.locator(".selected-frame")).to_have_count(1)
    assert icicle.locator("svg").evaluate("svg => getComputedStyle(svg).outlineStyle") == "none"
    assert page.evaluate("() => getSelection().toString()") == ""
    expect(page.get_by_role("complementary").get_by_text("GPU time", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("groups.colour=bound"))


def test_a_filter_that_nothing_matches(opened: Page) -> None:
    """It is said once, and nothing of times that no op would have."""
    panel = opened.get_by_role("region", name="Group Ops", exact=True)
    expect(panel).to_contain_text("GPU time")
    opened.get_by_label("Filter by path").fill("no such path")
    expect(panel).to_contain_text("No path matches the filter.")
    expect(panel).not_to_contain_text("Width")


def test_names_that_are_cut_keep_their_numbers(page: Page, tensorboard: TensorBoard) -> None:
    """On a telephone siblings can still be told apart."""
    page.set_viewport_size({"width": 320, "height": 900})
    page.goto(tensorboard.page(run="ddp/rank0", view="modules", groups__level="9"))
    label = shown(page).locator(".tree-label").filter(has_text=re.compile(r"\d\]?$")).first
    head = label.locator(".tree-head")
    head.evaluate("head => { head.textContent = 'a long name '.repeat(9); }")
    assert head.evaluate("head => head.scrollWidth > head.clientWidth")
    assert label.evaluate("label => label.scrollWidth <= label.clientWidth")


def test_repeated_siblings_collapse(page: Page, tensorboard: TensorBoard) -> None:
    """Layers that are alike become one row with their number and their sums; ops and kernels below are those of all."""
    page.goto(tensorboard.page(run="ddp/rank0", view="modules"))
    expect(shown(page).first).to_be_visible()
    before = int(page.get_by_role("treegrid").get_attribute("aria-rowcount") or 0)
    page.get_by_role("button", name="Expand all").click()
    page.get_by_label("Collapse repeated").check()
    page.get_by_role("button", name="Expand all").click()
    folded = shown(page).filter(has=page.locator(".fold-count")).filter(has_text=re.compile(r"\[\d+\.\.\d+\]")).first
    expect(folded).to_be_visible()
    assert before > 0
    name = f"{folded.locator('.tree-label').text_content()} {folded.locator('.fold-count').text_content()}"
    time = folded.get_by_role("gridcell").nth(2).inner_text()
    folded.locator(".tree-label").click()
    for table in ("Ops", "Kernels"):
        section = page.get_by_role("region", name=f"{table} of {name}", exact=True)
        # In the unit of its column's head.
        sums = re.compile(f"{re.escape(time)} ms|{float(time) * 1000:,.0f} µs")
        expect(section.get_by_role("row", name=re.compile(r"^All\s"))).to_contain_text(sums)


def test_ops_without_gpu_time_are_left_out(page: Page, tensorboard: TensorBoard) -> None:
    """How many they are is told, and they can be seen; a filter finds them, too."""
    nodes = nodes_of(tensorboard, "amp")
    timeless = sum(op is not None and not time for op, time in zip(nodes["op_id"], nodes["gpu_time_ns"], strict=True))
    page.goto(tensorboard.page(run="amp", view="modules", groups__level="9"))
    note = page.get_by_text(re.compile("without GPU time"))
    expect(note).to_have_text(re.compile(rf"^{timeless} ops without GPU time are left out"))
    table = page.get_by_role("treegrid")
    before = int(table.get_attribute("aria-rowcount") or 0)
    note.get_by_role("button", name="Show").click()
    expect(note.get_by_role("button", name="Leave out")).to_be_visible()
    assert int(table.get_attribute("aria-rowcount") or 0) > before


def test_keyboard(opened: Page) -> None:
    """Arrow keys walk, open and close; Enter selects, Esc undoes that."""
    opened.get_by_role("button", name="Collapse all").click()
    row(opened, "/").focus()
    opened.keyboard.press("ArrowRight")
    expect(row(opened, "/")).to_have_attribute("aria-expanded", "true")
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("Enter")
    expect(shown(opened).nth(1)).to_have_attribute("aria-selected", "true")
    opened.keyboard.press("Escape")
    expect(opened.locator(".tree-row[aria-selected=true]")).to_have_count(0)
    expect(shown(opened).nth(1)).to_be_focused()
    opened.keyboard.press("ArrowLeft")
    expect(row(opened, "/")).to_be_focused()
    opened.keyboard.press("ArrowLeft")
    expect(row(opened, "/")).to_have_attribute("aria-expanded", "false")


def test_a_group_alone(opened: Page) -> None:
    """A group can be shown alone, and the whole model again."""
    opened.get_by_label("To level").select_option("2")
    label = shown(opened).nth(1).locator(".tree-label")
    path = label.get_attribute("data-tip") or ""
    label.click()
    headings = opened.locator(".tree-table thead th").all_inner_texts()
    share = row(opened, path).get_by_role("gridcell").nth(headings.index("Share"))
    of_the_whole = share.inner_text()
    opened.get_by_role("button", name="Show alone").click()
    expect(row(opened, "/")).to_have_count(0)
    expect(row(opened, path)).to_be_visible()
    expect(share).to_have_text(of_the_whole)
    expect(opened.get_by_role("heading", level=2).first).to_contain_text("In ")
    opened.get_by_role("button", name="Whole model").click()
    expect(row(opened, "/")).to_be_visible()


def test_without_a_gpu_nothing_is_said_of_tensor_core_use(page: Page, tensorboard: TensorBoard) -> None:
    """A recording of the CPU alone tells which ops are eligible, and not that none of them uses Tensor Cores."""
    page.goto(tensorboard.page(run="cpu", view="modules"))
    expect(page.locator(".headline")).to_contain_text(
        re.compile(r"takes most CPU time: .*No kernels were recorded", re.DOTALL)
    )
    heads = page.get_by_role("treegrid").get_by_role("columnheader")
    expect(heads.filter(has_text=re.compile("^Share$"))).to_have_count(1)
    expect(row(page, "/")).to_contain_text("100 %")
    expect(page.locator(".shade-legend")).to_contain_text("holds ops eligible for Tensor Cores")
    expect(heads.filter(has_text="TC Eligible")).to_have_count(1)
    expect(heads.filter(has_text="Using TC")).to_have_count(0)
    page.goto(tensorboard.page(run="cpu", view="modules", groups__as="graph"))
    expect(page.get_by_role("list", name="What the nodes' edges mean")).to_contain_text("no kernels were recorded")
    expect(page.locator(".graph-node .node-words").first).to_contain_text(re.compile(r"^CPU \d.* · \d+ eligible$"))


@pytest.mark.parametrize("view", ["modules", "ops"])
def test_in_a_narrow_window_a_selection_is_seen_with_its_pane(page: Page, tensorboard: TensorBoard, view: str) -> None:
    """The pane lies at the end of the window, the clicked row above it; a link opens at the top of the page."""
    page.set_viewport_size({"width": 800, "height": 800})
    page.goto(tensorboard.page(run="amp", view=view))
    clicked = page.locator("tbody tr").nth(4)
    clicked.click()
    pane = page.get_by_role("complementary")
    expect(pane).to_be_in_viewport(ratio=1)
    selected = page.locator("tr[aria-selected=true]")
    expect(selected).to_be_in_viewport(ratio=1)

    def is_above() -> bool:
        row, beside = selected.bounding_box(), pane.bounding_box()
        return row is not None and beside is not None and row["y"] + row["height"] <= beside["y"]

    wait_for(is_above)
    page.reload()
    expect(pane).to_be_visible()
    expect(page.locator(".headline h2")).to_be_in_viewport()


def test_in_a_narrow_window_the_wheel_scrolls_the_page(page: Page, tensorboard: TensorBoard) -> None:
    """What is opened at first of a tree stands there whole; what goes on below shows that at its edge."""
    page.set_viewport_size({"width": 800, "height": 800})
    page.goto(tensorboard.page(run="amp", view="modules"))
    scroller = page.locator(".tree-scroll")
    expect(scroller).to_be_visible()
    assert scroller.evaluate("element => element.scrollHeight <= element.clientHeight")
    expect(scroller).not_to_have_class(re.compile("has-more"))
    page.get_by_role("checkbox", name="Collapse repeated").uncheck()
    page.get_by_role("button", name="Expand all").click()
    expect(scroller).to_have_class(re.compile("has-more"))
    scroller.evaluate("element => element.scrollTo(0, element.scrollHeight)")
    expect(scroller).not_to_have_class(re.compile("has-more"))


def test_the_page_waits_for_its_findings(page: Page, tensorboard: TensorBoard) -> None:
    """The sentence names what they say, and nothing moves for it: the tree comes with it."""
    held: list[Any] = []
    page.route(re.compile(r"/diagnosis\?"), lambda route: held.append(route))
    with page.expect_request(re.compile(r"/diagnosis\?")):
        page.goto(tensorboard.page(run="amp", view="modules"))
    expect(page.get_by_role("status").filter(has_text="Loading the groups")).to_be_visible()
    expect(page.locator(".tree-panel")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator(".tree-panel")).to_be_visible()
    expect(page.locator(".waste-lines")).to_contain_text("an iteration could be")
