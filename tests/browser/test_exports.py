"""Exports: what is downloaded, copied and printed is the filtered table, headed with the profile's name."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import TensorBoard

NAME = "generated-resnet50-amp.pt.trace.json.gz"


@pytest.fixture
def answer(tensorboard: TensorBoard) -> dict[str, Any]:
    """The filtered ops as the server answers them."""
    query = {"where.op_type": "conv2d", "sort": "-cpu_time_ns", "limit": "1000"}
    asked = {"profile": tensorboard.profile("amp")["id"], "table": "ops", "per": "iteration"}
    response = tensorboard.get("table", **asked, **query)
    assert 10 < response["filtered"] < response["total"]
    return dict(response)


@pytest.fixture
def menu(page: Page, tensorboard: TensorBoard) -> Locator:
    """The open export menu of the filtered and sorted ops."""
    page.goto(
        tensorboard.page(run="amp", view="ops", ops__where__op_type="conv2d", ops__sort="-cpu_time_ns", ops__size="10")
    )
    section = page.get_by_role("region", name="Ops", exact=True)
    expect(section.locator("tbody tr")).to_have_count(10)
    section.get_by_role("button", name="Export").click()
    return page.get_by_role("group", name="Export Ops")


def saved(page: Page, link: Locator) -> Path:
    """The file that a link downloads."""
    with page.expect_download() as download:
        link.click()
    return download.value.path()


def test_csv(page: Page, menu: Locator, answer: dict[str, Any]) -> None:
    """CSV holds all filtered rows in the table's order, and starts with the columns' names."""
    rows = list(csv.reader(io.StringIO(saved(page, menu.get_by_role("link", name="CSV")).read_text("utf-8-sig"))))
    name = rows[0].index("Op Name")
    assert [row[name] for row in rows[1:]] == [row["name"] for row in answer["rows"]]
    time = rows[0].index("CPU Time (ns)")
    assert [int(row[time]) for row in rows[1:]] == [row["cpu_time_ns"] for row in answer["rows"]]


def test_json(page: Page, menu: Locator, answer: dict[str, Any]) -> None:
    """JSON holds the same rows."""
    data = json.loads(saved(page, menu.get_by_role("link", name="JSON")).read_text())
    assert NAME in data["profile"]
    assert [row["op_id"] for row in data["rows"]] == [row["op_id"] for row in answer["rows"]]


def test_excel(page: Page, menu: Locator, answer: dict[str, Any]) -> None:
    """The Excel file is a workbook with the names of the rows."""
    with zipfile.ZipFile(saved(page, menu.get_by_role("link", name="Excel"))) as workbook:
        texts = "".join(workbook.read(name).decode() for name in workbook.namelist() if name.endswith(".xml"))
    assert NAME in texts
    assert answer["rows"][-1]["op_id"] in texts


def test_pdf(page: Page, menu: Locator) -> None:
    """The PDF file is one, and ends where it should."""
    data = saved(page, menu.get_by_role("link", name="PDF")).read_bytes()
    assert data.startswith(b"%PDF-1.4")
    assert data.endswith(b"%%EOF\n")


def test_copy(page: Page, menu: Locator, answer: dict[str, Any]) -> None:
    """Copy puts all filtered rows into the clipboard, separated by tabs, not only those of the page."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    menu.get_by_role("button", name="Copy").click()
    expect(page.get_by_text(f"Copied {answer['filtered']:,} rows")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert NAME in lines[0]
    head = lines[1].split("\t")
    ids = [line.split("\t")[head.index("Op ID")] for line in lines[2:]]
    assert ids == [row["op_id"] for row in answer["rows"]]


def test_groups(page: Page, tensorboard: TensorBoard) -> None:
    """All of them with their paths, whatever the tree shows: in a file, and copied."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(tensorboard.page(run="amp", view="modules", groups__filter="**/layer1/**"))
    page.get_by_role("region", name="Group Ops").get_by_role("button", name="Export").click()
    menu = page.get_by_role("group", name="Export All Groups")
    lines = list(csv.reader(io.StringIO(saved(page, menu.get_by_role("link", name="CSV")).read_text("utf-8-sig"))))
    response = tensorboard.get("table", profile=tensorboard.profile("amp")["id"], table="groups", limit="1000")["rows"]
    assert [line[lines[0].index("Path")] for line in lines[1:]] == [row["path"] for row in response]
    assert any("layer1" not in row["path"] for row in response)
    page.get_by_role("button", name="Export").first.click()
    menu.get_by_role("button", name="Copy").click()
    expect(page.get_by_text(f"Copied {len(response):,} rows")).to_be_visible()
    copied = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").splitlines()]
    assert copied[1] == lines[0]
    assert [line[0] for line in copied[2:]] == [line[0] for line in lines[1:]]


def test_print(page: Page, menu: Locator, answer: dict[str, Any]) -> None:
    """Print shows a sheet with all filtered rows and nothing else; afterwards the page is as before."""
    page.evaluate("void (window.print = () => { window.printed = true; })")
    menu.get_by_role("button", name="Print").click()
    page.wait_for_function("window.printed")
    page.emulate_media(media="print")
    sheet = page.locator(".print-sheet")
    expect(sheet).to_be_visible()
    expect(sheet.locator("h1")).to_contain_text(NAME)
    expect(sheet.locator("tbody tr")).to_have_count(answer["filtered"])
    expect(page.locator("#dlprof")).to_be_hidden()
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(sheet).to_have_count(0)
    expect(page.locator("#dlprof")).to_be_visible()


def test_a_page_is_printed_in_full_on_white(page: Page, tensorboard: TensorBoard) -> None:
    """Also from a dark screen: all of the page and not the part in the window, dark on white, without menus."""
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 794, "height": 700})
    page.goto(tensorboard.page(run="amp"))
    expect(page.locator(".top-groups tbody tr").first).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    panel = page.get_by_role("region", name="Performance Summary")
    expect(panel).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(panel).to_have_css("color", "rgb(0, 0, 0)")
    expect(page.locator(".view-menu")).to_be_hidden()
    page.wait_for_function("document.documentElement.scrollHeight > 2 * innerHeight")
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
