"""``dlprofviewer`` in a browser: a database, a source, a folder, what is wrong with them, another address."""

from __future__ import annotations

import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OTHER_SAMPLES, sample
from tests.browser.serving import VIEWS, Viewer, viewing
from tests.imports.holding import Held
from tests.imports.traces import write_trace
from tests.waiting import PATIENCE_S


def _network_address() -> str:
    """The address of this machine on a network; the loopback address where it is on none."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            # Says which way a packet would go; none is sent.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


@pytest.fixture
def hosts() -> frozenset[str]:
    """The network's name of this machine too."""
    return frozenset({"localhost", "127.0.0.1", _network_address()})


@pytest.fixture
def database(logdir: Path, tmp_path: Path) -> Path:
    """A database of its own, which a test may change."""
    return Path(shutil.copy(next((logdir / "amp").glob("*.sqlite")), tmp_path / "profile.sqlite"))


@pytest.fixture
def viewer(database: Path, tmp_path: Path) -> Iterator[Viewer]:
    """Shows ``database``."""
    with viewing(database, tmp_path / "cache") as server:
        yield server


def test_a_database(page: Page, viewer: Viewer, database: Path) -> None:
    """The page opens on the named file, every view is a click away, and the brand leads back."""
    page.goto(viewer.address)
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
    expect(page.locator(".picker-button")).to_have_text(database.name)
    expect(page).to_have_title(f"Dashboard · {database.name} · GPU Summary")
    menu = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(menu).to_have_count(len(VIEWS))
    for number in range(len(VIEWS)):
        menu.nth(number).click()
        expect(menu.nth(number)).to_have_attribute("aria-current", "page")
        expect(page.locator(".panel, .data-table, .message").first).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
    page.get_by_role("link", name="GPU Summary: to the Dashboard").click()
    expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()


def test_a_source(page: Page, tmp_path: Path) -> None:
    """A trace is imported and shown without a click."""
    source = Path(shutil.copy(sample(OTHER_SAMPLES["fp32"]), tmp_path))
    with viewing(source, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()


def test_a_folder(page: Page, logdir: Path, tmp_path: Path) -> None:
    """Everything below it is in the picker."""
    for run in ("amp", "cpu"):
        shutil.copytree(logdir / run, tmp_path / "runs" / run)
    with viewing(tmp_path / "runs", tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        page.locator(".picker-button").click()
        expect(page.get_by_role("option")).to_have_count(2)


def test_a_folder_without_profiles(page: Page, tmp_path: Path) -> None:
    """It is named, not called a log directory; the first profile that is put there shows up by itself."""
    folder = tmp_path / "runs"
    folder.mkdir()
    with viewing(folder, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        expect(page.get_by_role("heading", name="No GPU profile in runs")).to_be_visible()
        write_trace(folder / "new.pt.trace.json")
        expect(page.locator(".picker-button")).to_contain_text("new.pt.trace.json")


def test_a_database_that_is_deleted_meanwhile(
    page: Page, viewer: Viewer, database: Path, complaints: list[str]
) -> None:
    """The page says that the file is not there and what to do; once it is back, Refresh shows it again."""
    page.goto(viewer.page(view="ops", ops__by="none"))
    expect(page.get_by_role("grid", name="Ops", exact=True)).to_be_visible()
    remaining = database.rename(database.with_suffix(".kept"))
    page.get_by_role("button", name="Refresh").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("dlprofviewer PATH")
    expect(alert).to_contain_text(database.name)
    remaining.rename(database)
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("grid", name="Ops", exact=True)).to_be_visible()
    complaints[:] = [each for each in complaints if "status of 404" not in each]


def test_a_file_that_is_no_profile(page: Page, tmp_path: Path) -> None:
    """The page names the file and says what opens here."""
    path = tmp_path / "notes.txt"
    path.write_text("no profile at all, and quite some text " * 10)
    with viewing(path, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        alert = page.get_by_role("alert")
        expect(alert.get_by_role("heading")).to_contain_text("notes.txt cannot be read")
        expect(alert.get_by_role("list", name="What to do").get_by_role("listitem").first).to_be_visible()


def test_files_that_are_no_profiles_are_found_by_a_search(page: Page, tmp_path: Path) -> None:
    """They stand behind a line at the end of the list, which a search opens where one of them matches."""
    logs = tmp_path / "logs"
    write_trace(logs / "a.json")
    (logs / "settings.json").write_text("{}")
    (logs / "run").mkdir()
    for name in ("one.json", "two.json"):
        (logs / "run" / name).write_text("{}")
    with viewing(logs, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
        page.locator(".picker-button").click()
        reason = page.get_by_text("Each of 3 files is JSON, but")
        fold = page.get_by_text("3 files that are no profiles")
        expect(reason).not_to_be_visible()
        fold.click()
        expect(reason).to_be_visible()
        expect(page.locator(".picker-menu").get_by_role("listitem")).to_have_text(["settings.json", "run: 2 files"])
        search = page.get_by_role("combobox")
        search.focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(reason).not_to_be_visible()
        search.fill("settings")
        expect(page.get_by_text("settings.json is JSON, but")).to_be_visible()
        expect(page.get_by_text("1 file that is no profile")).to_be_visible()
        search.fill("zzzz")
        expect(page.get_by_text("No profile matches.")).to_be_visible()
        expect(page.get_by_text("no profiles")).to_have_count(0)


def test_reports_of_other_tools_stand_at_the_end_of_the_picker(page: Page, tmp_path: Path) -> None:
    """With what they are and what to do, and a search finds them; not those whose export stands beside them."""
    logs = tmp_path / "logs"
    write_trace(logs / "a.json")
    for name in ("a.nsys-rep", "b.nsys-rep", "c.rpd"):
        (logs / name).write_bytes(b"report")
    with viewing(logs, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
        page.locator(".picker-button").click()
        menu = page.get_by_role("dialog")
        expect(menu).to_contain_text("b.nsys-rep: a report of Nsight Systems. Export it to a database")
        expect(menu).to_contain_text("c.rpd: a profile of ROCm's rpd, which is not supported")
        expect(menu).not_to_contain_text("a.nsys-rep")
        page.get_by_role("combobox").fill("rpd")
        expect(menu).to_contain_text("c.rpd: a profile")
        expect(menu).not_to_contain_text("b.nsys-rep")


def test_an_import_is_cancelled(page: Page, tmp_path: Path) -> None:
    """Cancel ends an import, the page offers it again, and it is not started by itself."""
    held = Held(tmp_path / "held")
    with viewing(write_trace(tmp_path / "logs" / "a.json"), tmp_path / "cache", python=held.python) as viewer:
        page.goto(viewer.address)
        expect(page.get_by_role("progressbar", name=re.compile("^Importing"))).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        button = page.get_by_role("button", name="Import", exact=True)
        expect(button).to_be_visible()
        page.get_by_role("button", name="Refresh").click()
        expect(button).to_be_visible()
        held.release()
        button.click()
        expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()


def test_domains(page: Page, database: Path, tmp_path: Path) -> None:
    """A database with two NVTX domains has a menu of them; each shows its own numbers, and the link keeps which."""
    with closing(sqlite3.connect(database)) as connection:
        (last,) = connection.execute("SELECT max(id) FROM dictionary").fetchone()
        connection.execute("INSERT INTO dictionary (id, string) VALUES (?, 'second-domain')", (last + 1,))
        connection.execute("INSERT INTO read_only_domains (id, domain_name_id) VALUES (7, ?)", (last + 1,))
        names = [row[1] for row in connection.execute("PRAGMA table_info(model_summary)")]
        changed = {"id": "1000 + id", "domain_id": "7", "gpu_utilization": "12.5"}
        connection.execute(
            f"INSERT INTO model_summary ({', '.join(names)}) "
            f"SELECT {', '.join(changed.get(name, name) for name in names)} FROM model_summary"
        )
        connection.commit()
    with viewing(database, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        menu = page.get_by_label("Domain")
        expect(menu.get_by_role("option")).to_have_text(["default-domain", "second-domain"])
        page.get_by_role("link", name="Ops", exact=True).click()
        page.get_by_role("button", name="Type", exact=True).click()
        types = page.get_by_role("grid", name="Op Type Summary")
        expect(types.locator("tbody tr").first).to_be_visible()
        menu.select_option("second-domain")
        expect(types.locator("tbody tr")).to_have_count(0)
        page.reload()
        expect(menu).to_have_value("second-domain")
        expect(types.locator("tbody tr")).to_have_count(0)
        page.go_back()
        expect(menu).to_have_value("default-domain")
        expect(types.locator("tbody tr").first).to_be_visible()


@pytest.mark.parametrize("real_run", ["dlprof"], indirect=True)
def test_several_aggregations_of_nvidias_own_database(page: Page, logdir: Path, real_run: str, tmp_path: Path) -> None:
    """What the command line adds to NVIDIA's database stands in the menu, with its key node on hover, and is shown."""
    path = Path(shutil.copy(logdir / real_run / "dlprof_dldb.sqlite", tmp_path))
    command = [sys.executable, "-m", "tensorboard_plugin_dlprof", "aggregate", str(path), "--key-op", "LINEAR_1"]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
    with viewing(path, tmp_path / "cache") as viewer:
        first, second = viewer.dashboard(".")["aggregations"]
        page.goto(viewer.address)
        button = page.get_by_role("button", name=re.compile("^Aggregation:"))
        button.click()
        entries = page.get_by_role("group", name="Aggregations").locator(".menu-item")
        expect(entries.locator(".number")).to_have_text(
            [str(first["iter_start"]), f"{second['iter_start']} .. {second['iter_stop']}"]
        )
        expect(entries.nth(1)).to_have_attribute("data-tip", f"key node {second['key_node']}")
        entries.nth(1).click()
        expect(page).to_have_url(re.compile(f"aggregation={second['id']}"))
        expect(page.get_by_role("region", name="Performance Summary")).to_be_visible()
        page.go_back()
        expect(page).not_to_have_url(re.compile("aggregation="))


def test_the_address_of_another_machine(page: Page, database: Path, tmp_path: Path) -> None:
    """On a plain http:// address that is not localhost the page works, and copying too, without the clipboard API."""
    address = _network_address()
    if address.startswith("127."):
        pytest.skip("this machine is on no network")
    with viewing(database, tmp_path / "cache", "-b", "0.0.0.0") as viewer:
        page.goto(viewer.page(view="ops", ops__by="none").replace("0.0.0.0", address))
        grid = page.get_by_role("grid", name="Ops", exact=True)
        expect(grid.locator("tbody tr").first).to_be_visible()
        assert page.evaluate("window.isSecureContext") is False
        cell = grid.locator("tbody td[tabindex='0']")
        path = cell.locator(".op-path").get_attribute("data-tip")
        assert path
        cell.focus()
        page.keyboard.press("Control+c")
        expect(page.get_by_text("Copied", exact=True).first).to_be_visible()
        expect(cell).to_be_focused()
        search = page.get_by_label("Search ops")
        search.focus()
        page.keyboard.press("Control+v")
        expect(search).to_have_value(path)


def test_long_names_stay_in_their_panels(page: Page, tmp_path: Path) -> None:
    """Of annotations that mark iterations, and of what was skipped: names may have thousands of letters."""
    long = "y" * 3_000
    events = [
        {"ph": "X", "cat": category, "name": long, "ts": start, "dur": 90, "pid": 1, "tid": 1}
        for start in (0, 100, 200)
        for category in ("user_annotation", f"of {long}")
    ]
    trace = tmp_path / "logs" / "long.json"
    trace.parent.mkdir()
    trace.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    with viewing(trace, tmp_path / "cache") as viewer:
        page.goto(viewer.address)
        page.get_by_text("System, guidance, and what this recording holds").click()
        expect(page.get_by_text("y" * 9).first).to_be_visible()
        panels = page.locator(".panel-body")
        assert panels.evaluate_all("all => all.filter(body => body.scrollWidth > body.clientWidth).length") == 0
