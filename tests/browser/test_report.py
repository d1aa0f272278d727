"""The HTML report in a browser: what is in sight of its tables, on screen and on paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.browser.conftest import sample
from tests.reports.writing import page_of


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of that of the AMP sample."""
    folder = tmp_path_factory.mktemp("report")
    database, page = folder / "amp.dlprof_dldb.sqlite", folder / "report.html"
    import_source(
        sample("generated-resnet50-amp.pt.trace.json.gz"), database, ImportOptions(), lambda _stage, _fraction: None
    )
    page.write_text(page_of(database), encoding="utf-8")
    return page.as_uri()


def opened(page: Page, title: str) -> Locator:
    """A table of the report, once its line was clicked."""
    table = page.locator("details.report").filter(has=page.get_by_role("heading", name=title, exact=True))
    table.locator("summary").click()
    return table


def beyond(table: Locator) -> int:
    """Pixels of a table that are not in sight."""
    result: int = table.locator(".scroll").evaluate("each => each.scrollWidth - each.clientWidth")
    return result


@pytest.mark.parametrize("width", [800, 1280])
def test_groups_fit_and_all_their_columns_can_be_had(page: Page, report: str, width: int) -> None:
    """Means and extremes come when they are asked for, without a script."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(report)
    table = opened(page, "Group Op Report")
    heads = table.get_by_role("columnheader")
    expect(heads.filter(has_text="Total GPU Idle (ns)")).to_be_visible()
    expect(heads.filter(has_text="Max GPU Idle (ns)")).to_have_count(0)
    assert beyond(table) == 0
    table.get_by_role("checkbox", name="All 20 columns").check()
    expect(heads).to_have_count(20)
    expect(heads.filter(has_text="Max GPU Idle (ns)")).to_have_count(1)


def test_a_printed_table_is_as_wide_as_the_paper(page: Page, report: str) -> None:
    """A4 without its margins."""
    page.set_viewport_size({"width": 688, "height": 1000})
    page.goto(report)
    tables = [opened(page, title) for title in ("Group Op Report", "Kernel Report", "Op Type Summary Report")]
    page.emulate_media(media="print")
    assert [beyond(table) for table in tables] == [0, 0, 0]
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("width", [800, 1280])
def test_nothing_scrolls_sideways_but_tables(page: Page, report: str, width: int) -> None:
    """The words of the curve of memory stand within it, too."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(report)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    curve = page.locator("svg.curve").bounding_box()
    assert curve is not None
    for word in page.locator("svg.curve text").all():
        box = word.bounding_box()
        assert box is not None
        assert curve["x"] <= box["x"]
        assert box["x"] + box["width"] <= curve["x"] + curve["width"] + 1
