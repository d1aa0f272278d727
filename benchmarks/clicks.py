"""Everything that a user can do on each page. Actions that a profile has nothing for, such as turning to a second page
of a table, are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.tab import SIZE, Tab

Act = Callable[[Tab], bool]
"""Performs an action, and returns whether there was anything to act on."""


@dataclass(frozen=True, slots=True)
class Click:
    """A named interaction."""

    name: str
    act: Act


@dataclass(frozen=True, slots=True)
class View:
    """A page of the menu, and the interactions on it, in this order; ``page``: the page that it is a part of."""

    label: str
    clicks: Sequence[Click]
    page: str = ""


def _press(selector: str, text: str = "", nth: int = 0, count: int = 1) -> Act:
    def act(tab: Tab) -> bool:
        element = tab.find(selector, text, nth)
        box = None if element is None else element.bounding_box()
        if box is None:
            return False
        x, y = box["x"] + min(box["width"] / 2, 60), box["y"] + box["height"] / 2
        tab.begin()
        tab.page.mouse.click(x, y, click_count=count)
        return True

    return act


def _write(selector: str, text: str) -> Act:
    """Type a text into a field, replacing the text that it holds."""

    def act(tab: Tab) -> bool:
        field = tab.find(selector)
        if field is None:
            return False
        field.evaluate("(element) => { element.focus(); element.select(); }")
        tab.begin()
        if text:
            tab.page.keyboard.insert_text(text)
        else:
            tab.page.keyboard.press("Delete")
        return True

    return act


def _choose(selector: str, value: str) -> Act:
    """Choose an entry of a list by script, since lists open in a window of the system."""

    def act(tab: Tab) -> bool:
        field = tab.find(selector)
        if field is None or not field.evaluate("(e, value) => [...e.options].some((o) => o.value === value)", value):
            return False
        tab.begin()
        field.evaluate(
            """(element, value) => { setTimeout(() => {
                element.value = value;
                element.dispatchEvent(new Event("change", {bubbles: true}));
            }); }""",
            value,
        )
        return True

    return act


def _keys(selector: str, *keys: str) -> Act:
    def act(tab: Tab) -> bool:
        element = tab.find(selector)
        if element is None:
            return False
        element.evaluate("(element) => element.focus()")
        tab.begin()
        for key in keys:
            tab.page.keyboard.press(key)
        return True

    return act


_STEPS = 12


def _drag(selector: str, across: float, down: float = 0.0, *, pressed: bool = True, nth: int = 0) -> Act:
    """From the middle, by shares of its size, or by pixels where they are more than 1."""

    def act(tab: Tab) -> bool:
        element = tab.find(selector, nth=nth)
        box = None if element is None else element.bounding_box()
        if box is None:
            return False
        mouse = tab.page.mouse
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        across_px = across if abs(across) > 1 else across * box["width"]
        down_px = down if abs(down) > 1 else down * box["height"]
        mouse.move(x, y)
        tab.rest()
        tab.begin()
        if pressed:
            mouse.down()
        mouse.move(x + across_px, y + down_px, steps=_STEPS)
        if pressed:
            mouse.up()
        return True

    return act


def _hover(selector: str) -> Act:
    return _drag(selector, 0.4, 0.2, pressed=False)


def _wheel(selector: str, turn: float, times: int = 4) -> Act:
    def act(tab: Tab) -> bool:
        element = tab.find(selector)
        box = None if element is None else element.bounding_box()
        if box is None:
            return False
        tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 200))
        tab.rest()
        tab.begin()
        for _ in range(times):
            tab.page.mouse.wheel(0, turn)
        return True

    return act


def _resize(width: int) -> Act:
    def act(tab: Tab) -> bool:
        tab.begin()
        tab.page.set_viewport_size({"width": width, "height": SIZE["height"]})
        return True

    return act


def _theme(name: str) -> Act:
    """TensorBoard's own menu."""

    def act(tab: Tab) -> bool:
        menu = tab.find_in_host("app-header-dark-mode-toggle button")
        if menu is None:
            return False
        menu.evaluate("(element) => element.click()")
        tab.rest()
        entry = tab.find_in_host(".mat-mdc-menu-item", name)
        if entry is None:
            return False
        tab.begin()
        entry.evaluate("(element) => { setTimeout(() => element.click()); }")
        return True

    return act


_WINDOW = (
    Click("window wider", _resize(1920)),
    Click("window narrower", _resize(1000)),
    Click("window as before", _resize(SIZE["width"])),
    Click("dark theme", _theme("Dark")),
    Click("light theme", _theme("Light")),
)
"""Actions on every page."""


_AGGREGATIONS = ".aggregation-menu > button"


def to_view(label: str) -> Act:
    """Press the page's name in the menu."""
    return _press(".view-menu a", label)


def to_profile(nth: int) -> Act:
    """Choose the profile at a position of the list."""
    return _listed(".picker-button", ".picker-option", nth)


def to_aggregation(nth: int) -> Act:
    """Choose the aggregation at a position of the list."""
    return _listed(_AGGREGATIONS, ".aggregation-entry .menu-item", nth)


def _listed(button: str, entries: str, nth: int) -> Act:
    """One of the entries of a list, which is opened before."""

    def act(tab: Tab) -> bool:
        element = tab.find(button)
        if element is None:
            return False
        element.evaluate("(element) => element.click()")
        tab.rest()
        return _press(entries, nth=nth)(tab)

    return act


ELSEWHERE = (
    Click("another aggregation", to_aggregation(1)),
    Click("the first aggregation", to_aggregation(0)),
    Click("another profile", to_profile(1)),
    Click("back to the first profile", to_profile(0)),
)
"""Actions on every page that need other profiles or aggregations."""


def _table(title: str, *, of_page: bool = False) -> list[Click]:
    """Of a table whose title begins so, as pages may show several; ``of_page``: it stands whatever is selected."""
    of = f"section.data-table[aria-label^='{title}']"
    number, other = f"{of} th.right button.sort-button", f"{of} th:not(.right) button.sort-button"
    some = f"{of} .filter-row input[placeholder='filter']"
    columns, every = f"{of} .table-tools .menu-holder > button", f"{of} .column-choices button"
    clicks = [
        Click("order", _press(number)),
        Click("the other way", _press(number)),
        Click("filter", _write(some, "e")),
        Click("no filter", _press(f"{of} .table-tools > button", "Clear filters")),
        Click("search", _write(f"{of} input[type=search]", "e")),
        Click("no search", _press(f"{of} .table-tools > button", "Clear filters")),
        Click("export menu", _press(columns, "Export")),
        Click("columns menu", _press(columns, "Columns")),
        Click("another order, menu open", _press(number, nth=1)),
        Click("columns menu again", _press(columns, "Columns")),
        Click("all columns", _press(every, "All")),
        Click("next page", _press(f"{of} button[aria-label='Next page']")),
        Click("100 rows", _choose(f"{of} .pager-size select", "100")),
        Click("next page of 100", _press(f"{of} button[aria-label='Next page']")),
        Click("order of 100", _press(number, nth=-1)),
        Click("the other way of 100", _press(number, nth=-1)),
        Click("order by text of 100", _press(other)),
        Click("filter of 100", _write(some, "e")),
        Click("no filter of 100", _press(f"{of} .table-tools > button", "Clear filters")),
        Click("column wider", _drag(f"{of} .resizer", 120, nth=0)),
        Click("wheel over rows", _wheel(f"{of} .table-scroll", 400)),
        Click("keys over cells", _keys(f"{of} tbody td[tabindex='0']", "ArrowDown", "ArrowRight", "ArrowDown")),
        *_WINDOW,
        *(ELSEWHERE if of_page else ()),
        Click("columns menu of 100", _press(columns, "Columns")),
        Click("columns as fit", _press(every, "As fit")),
        Click("row", _press(f"{of} tbody tr.selectable td.right", nth=2)),
        Click("another row", _press(f"{of} tbody tr.selectable td.right", nth=20)),
        Click("fewer rows", _choose(f"{of} .pager-size select", "10")),
    ]
    return [Click(f"{title}: {click.name}", click.act) for click in clicks]


_GROUPS, _GRAPH, _BARS = ".tree-scroll", ".graph-body svg[role=application]", ".iteration-bars"
_TRACKS, _CHOICE = ".timeline-canvas", ".choice :is(a, button)"


def _levels(panel: str) -> list[Click]:
    """Interactions that the pages of groups and the graph share."""
    tools = f"{panel} .table-tools"
    return [
        Click("expand all", _press(f"{tools} button", "Expand all")),
        Click("collapse all", _press(f"{tools} button", "Collapse all")),
        Click("to level 3", _choose(f"{tools} select", "3")),
        Click("collapse repeated", _press(f"{tools} label.check input")),
        Click("each alone", _press(f"{tools} label.check input")),
        Click("expand all again", _press(f"{tools} button", "Expand all")),
        Click("filter", _write(f"{tools} input[type=search]", "e")),
        Click("no filter", _write(f"{tools} input[type=search]", "")),
    ]


VIEWS = (
    View(
        "Dashboard",
        [
            Click("pointer over bars", _hover(".iteration-plot")),
            Click("keys over bars", _keys(".iteration-plot", "ArrowRight", "ArrowRight")),
            Click("class hidden", _press(".iteration-chart .legend-entry")),
            Click("class shown", _press(".iteration-chart .legend-entry")),
            Click("bars as a table", _press(".twin summary")),
            Click("bars alone", _press(".twin summary")),
            Click("help", _press("button[aria-label='Help']")),
            Click("help closed", _press(".details-pane button[aria-label='Close']")),
            Click("list of profiles", _press(".picker-button")),
            Click("keys over profiles", _keys(".picker-menu input", "ArrowDown", "PageDown", "ArrowUp")),
            Click("search of profiles", _write(".picker-menu input", "e")),
            Click("list closed", _keys(".picker-menu input", "Escape")),
            Click("kernel details", _press("button[aria-label='Kernel Details']")),
            Click("kernel details closed", _press(".details-pane button[aria-label='Close']")),
            Click("list of aggregations", _press(_AGGREGATIONS)),
            Click("list of aggregations closed", _keys(_AGGREGATIONS, "Escape")),
            *_WINDOW,
        ],
    ),
    View(
        "Recommendations",
        [Click("evidence", _press(".finding-evidence summary", nth=1)), *_WINDOW],
    ),
    View(
        "Modules",
        [
            *_levels(".tree-panel"),
            Click("order", _press(f"{_GROUPS} th.right button", nth=-1)),
            Click("order by name", _press(f"{_GROUPS} th:not(.right) button")),
            Click("keys over rows", _keys(f"{_GROUPS} tr[tabindex='0']", "ArrowDown", "ArrowDown", "PageDown")),
            Click("wheel over rows", _wheel(_GROUPS, 800)),
            Click("row", _press(f"{_GROUPS} .tree-row td.right", nth=4)),
            Click("level closed", _press(f"{_GROUPS} .tree-toggle:not(span)", nth=0)),
            Click("level opened", _press(f"{_GROUPS} .tree-toggle:not(span)", nth=0)),
            Click("pointer over icicle", _hover(".icicle-plot svg")),
            Click("box of the icicle", _press(".icicle-box", nth=3)),
            Click("icicle zoomed", _press(".icicle-box", nth=2, count=2)),
            Click("whole model", _press(".tree-panel .table-tools button", "Whole model")),
            Click("another colour", _press(".icicle-head .choice :is(a, button)", "Could gain")),
            Click("treemap", _press(_CHOICE, "Treemap")),
            Click("icicle", _press(_CHOICE, "Icicle")),
            *_WINDOW,
            *_table("Ops of"),
            *_table("Kernels"),
        ],
    ),
    View(
        "Graph",
        [
            Click("graph", _press(_CHOICE, "Graph")),
            *_levels(".graph-panel"),
            Click("wheel in", _wheel(_GRAPH, -100)),
            Click("graph moved", _drag(_GRAPH, 0.3, 0.3)),
            Click("wheel out", _wheel(_GRAPH, 100, 12)),
            Click("fit", _press(".graph-zoom button[aria-label='Fit']")),
            Click("pointer over nodes", _hover(_GRAPH)),
            Click("node", _press(".graph-node .node-box", nth=0)),
            Click("node closed", _press(".graph-node .node-toggle", nth=0)),
            Click("node opened", _press(".graph-node .node-toggle", nth=0)),
            Click("keys over nodes", _keys(_GRAPH, "ArrowDown", "ArrowRight", "0")),
            *_WINDOW,
        ],
        page="Modules",
    ),
    View(
        "Ops",
        [
            *_table("Ops by", of_page=True),
            *_table("Ops of"),
            Click("by type", _press(_CHOICE, "Type")),
            *_table("Op Type Summary"),
            Click("by kernel", _press(_CHOICE, "Kernel")),
            Click("op by op", _press(_CHOICE, "None")),
            *_table("Ops"),
            *_table("Kernels"),
        ],
    ),
    View(
        "Efficiency",
        [
            Click("pointer over dots", _hover(".roofline-plot")),
            Click("dot", _press(".roofline-plot circle.dot", nth=0)),
            Click("precision hidden", _press(".dot-legend .legend-entry")),
            Click("precision shown", _press(".dot-legend .legend-entry")),
            *_table("Ops", of_page=True),
        ],
    ),
    View(
        "Iterations",
        [
            Click("pointer over bars", _hover(_BARS)),
            Click("bars as a table", _press(".twin summary")),
            Click("zoom in", _press("button[aria-label='Zoom in']")),
            Click("bars moved", _drag(_BARS, 0.3)),
            Click("wheel out and in", _wheel(_BARS, -100)),
            Click("all iterations", _press(".iterations-tools button", "All iterations")),
            Click("start dragged", _drag(".handle[role=slider] path", 150)),
            Click("class hidden", _press(".iteration-chart .legend-entry")),
            Click("class shown", _press(".iteration-chart .legend-entry")),
            Click("keys over bars", _keys(_BARS, "ArrowRight", "ArrowRight", "+", "-")),
            Click("dialog of ops", _press(".key-node button", "Pick")),
            Click("search in the dialog", _write("dialog input[type=search]", "e")),
            Click("order in the dialog", _press("dialog th.right button.sort-button")),
            Click("100 rows in the dialog", _choose("dialog .pager-size select", "100")),
            Click("next page in the dialog", _press("dialog button[aria-label='Next page']")),
            Click("op in the dialog", _press("dialog tbody tr.selectable td.right", nth=2)),
            Click("op chosen", _press("dialog .dialog-buttons .button-primary")),
            *_WINDOW,
            *_table("Iteration Summary", of_page=True),
            *_table("Kernels"),
            Click("by op", _press(_CHOICE, "Op")),
            *_table("Ops"),
        ],
    ),
    View(
        "Timeline",
        [
            Click("pointer over tracks", _hover(_TRACKS)),
            Click("closer", _press("button[aria-label='Closer']")),
            Click("tracks moved", _drag(_TRACKS, 0.3)),
            Click("wheel over tracks", _wheel(_TRACKS, -100)),
            Click("further away", _press("button[aria-label='Further away']")),
            Click("next gap", _press(".timeline-bar button", "gap")),
            *_WINDOW,
        ],
    ),
    View("Memory", [Click("pointer over the curve", _hover(".memory-curve")), *_WINDOW]),
    View("GPUs and Ranks", _table("GPUs", of_page=True)),
    View(
        "Compare",
        [
            Click("baseline", _listed(".versus .picker-button", ".picker-option", 1)),
            *_table("Changes by Op"),
            Click("swap", _press("button", "Swap A and B")),
            Click("no baseline", _press("button[aria-label='No baseline']")),
            *_WINDOW,
        ],
    ),
)
"""The pages in the order of their menu; "Graph" is a view of Modules."""
