"""A page for each thing that can be wrong with a file or an address, with what to do about it."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES
from tests.browser.serving import TensorBoard, running


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory, logdir: Path) -> Iterator[TensorBoard]:
    """Databases that are too old, too new, without a configuration, and none at all; and a good one."""
    logs = tmp_path_factory.mktemp("faulty")
    good = next((logdir / "amp").glob("*.sqlite"))
    changes = {
        "old": "UPDATE db_version SET current_version = '1.2.0'",
        "new": "UPDATE db_version SET current_version = '1.9.0'",
        "empty": "DELETE FROM aggregations",
    }
    for run, change in changes.items():
        (logs / run).mkdir()
        copy = logs / run / "dlprof_dldb.sqlite"
        shutil.copy(good, copy)
        database = sqlite3.connect(copy)
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute(change)
        database.commit()
        database.close()
    (logs / "none").mkdir()
    (logs / "none" / "dlprof_dldb.sqlite").write_bytes(b"no database at all")
    shutil.copytree(logdir / "amp", logs / "good")
    with running(logs, tmp_path_factory.mktemp("cache")) as server:
        yield server


@pytest.mark.parametrize(
    ("run", "title", "advice"),
    [
        ("old", "too old", "nsys export"),
        ("new", "newer", "pip install --upgrade"),
        ("empty", "not a DLProf database", "no aggregation was completed"),
        ("none", "not a DLProf database", "nsys export"),
    ],
)
def test_a_database_that_cannot_be_shown(
    page: Page, faulty: TensorBoard, run: str, title: str, advice: str, complaints: list[str]
) -> None:
    """Each fault has a page with the server's sentence, what it means, and what to do."""
    page.goto(faulty.page(run=run))
    alert = page.get_by_role("alert")
    expect(alert.get_by_role("heading")).to_contain_text(title)
    expect(alert).to_contain_text(advice)
    complaints[:] = [each for each in complaints if "status of 422" not in each]


def test_a_view_that_does_not_exist(page: Page, tensorboard: TensorBoard) -> None:
    """A misspelt view is explained, and the Dashboard is one click away."""
    page.goto(tensorboard.page(run="amp", view="kernles"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text('no page "kernles"')
    alert.get_by_role("link", name="Open the Dashboard").click()
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()


def test_a_filter_that_means_nothing_can_be_cleared(
    page: Page, tensorboard: TensorBoard, complaints: list[str]
) -> None:
    """A link with a filter that is not understood, or a reload after one was typed, leads out again."""
    page.goto(tensorboard.page(run="amp", view="ops", ops__where__calls="abc", ops__sort="nonsense"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("no column")
    alert.get_by_role("button", name="Clear filters and order").click()
    expect(page.get_by_role("grid", name="Ops", exact=True)).to_be_visible()
    assert "where" not in page.url
    complaints[:] = [each for each in complaints if "status of 400" not in each]


def test_an_aggregation_that_is_no_number(page: Page, tensorboard: TensorBoard) -> None:
    """A parameter that cannot be understood is named."""
    page.goto(tensorboard.page(run="amp", aggregation="first"))
    expect(page.get_by_role("alert")).to_contain_text('"first" is not the number of an aggregation')


def test_a_profile_that_is_not_here(page: Page, tensorboard: TensorBoard) -> None:
    """A link to a profile of elsewhere shows no other one in its place, and offers the first."""
    page.goto(tensorboard.page(profile="0123456789abcdef", run="nowhere", capture="gone.sqlite"))
    main = page.get_by_role("main")
    expect(main).to_contain_text("gone.sqlite")
    expect(main).to_contain_text("Nothing is selected")
    main.get_by_role("button", name="Show the first profile").click()
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()


def test_help_explains_terms_and_names_a_contact(page: Page, tensorboard: TensorBoard) -> None:
    """Help holds a guide, what terms mean, keys, filters, and whom to ask; it stays while it leads to a page."""
    page.goto(tensorboard.page(run="amp"))
    page.get_by_role("button", name="Help", exact=True).click()
    pane = page.get_by_role("complementary", name="Help")
    expect(pane.get_by_role("heading", level=3)).to_have_text(
        [
            *("This page", "Parts of an iteration", "What memory holds", "Guide", "DLProf's views", "Terms"),
            *("Keyboard", "Filters", "Further reading", "Contact"),
        ]
    )
    expect(pane).to_contain_text("Dashboard: Why an iteration takes as long as it does")
    pane.get_by_role("heading", name="DLProf's views").click()
    views = pane.locator("dl > div").filter(has=page.get_by_role("term").get_by_text("Kernels by Op", exact=True))
    expect(views.get_by_role("link").last).to_have_text("Iterations")
    views.get_by_role("link").click()
    expect(page.get_by_role("region", name=re.compile("^Kernels Launched in Iteration .* by Op$"))).to_be_visible()
    filters = pane.get_by_text("Times take a unit")
    expect(filters).not_to_be_visible()
    pane.get_by_role("heading", name="Filters").click()
    expect(filters).to_be_in_viewport()
    pane.get_by_role("heading", name="Guide").click()
    pane.get_by_role("link", name="Efficiency", exact=True).click()
    expect(page.get_by_role("region", name="Roofline")).to_be_visible()
    expect(pane).to_contain_text("Efficiency: How close each op comes")


def test_help_has_every_name_of_the_legends(page: Page, tensorboard: TensorBoard) -> None:
    """Those of a page stand open on it: what memory holds by the categories of the server, time by what bars show."""
    for view, names in (("memory", CATEGORIES), ("gpus", ("Tensor Cores", "Rest", "Transfer", "Waiting", "Unmatched"))):
        page.goto(tensorboard.page(run="amp", view=view, details="help"))
        pane = page.get_by_role("complementary", name="Help")
        for name in names:
            expect(pane.get_by_role("term").get_by_text(name, exact=True)).to_be_visible()
    page.goto(tensorboard.page(run="ddp/rank0", view="gpus", details="help"))
    for legend in (".bar-legend li", ".rank-legend li:has(.swatch)"):
        for item in page.locator(legend).all():
            name = re.sub(r"\s[\d.<>]+\s%$", "", item.inner_text().strip())
            expect(pane.get_by_role("term").get_by_text(name, exact=True)).to_be_visible()


def test_a_database_of_an_older_version_is_made_anew_when_opened(
    page: Page, logdir: Path, tmp_path: Path, complaints: list[str]
) -> None:
    """Before the server has looked into it, its list takes it for one that can be shown: no error is."""
    shutil.copytree(logdir / "amp", tmp_path / "logs" / "amp")
    database = sqlite3.connect(next((tmp_path / "logs").glob("amp/*.sqlite")))
    database.execute("UPDATE ext_info SET value = '1' WHERE key = 'extension_version'")
    database.commit()
    database.close()
    with running(tmp_path / "logs", tmp_path / "cache") as server:
        page.goto(server.page(run="amp"))
        shown = page.get_by_role("region", name="Performance Summary")
        expect(shown.or_(page.get_by_role("alert"))).to_be_visible()
        expect(shown).to_be_visible()
    complaints[:] = [each for each in complaints if "status of 409" not in each]
