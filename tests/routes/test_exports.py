"""Downloads over HTTP."""

from __future__ import annotations

import csv
import io
import json
import socket
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import ProfileError, UnfitDatabase
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.queries.tables import TABLES
from tensorboard_plugin_dlprof.routes import export, responses
from tensorboard_plugin_dlprof.routes.exporting import Exporter
from tests.routes.serving import LINKS, Server

DATABASE = "made.dlprof_dldb.sqlite"


@pytest.mark.parametrize("table", TABLES)
def test_every_table_can_be_exported(server: Server, table: str) -> None:
    """All rows, with the columns that are shown; the same cells as page by page."""
    address = f"profile={server.profile(DATABASE)['id']}&table={table}{LINKS.get(table, '')}"
    page = server.get(f"/table?{address}&limit=1000").json
    shown = [column["key"] for column in page["columns"] if not column["hidden"]]
    data = json.loads(server.get(f"/export?{address}&format=json").data)
    assert data["rows"] == [{key: row[key] for key in shown} for row in page["rows"]]
    assert data["rows"] or table.startswith("memory_block"), "the recording has no memory"
    text = server.get(f"/export?{address}&format=csv").text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == page["total"]
    workbook = server.get(f"/export?{address}&format=xlsx").data
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        assert archive.read("xl/worksheets/sheet1.xml").count(b"<row ") == page["total"] + 2
    assert server.get(f"/export?{address}&format=pdf").data.startswith(b"%PDF-1.4")


def test_search_filter_sort_and_columns_count_and_pages_do_not(server: Server) -> None:
    """The whole filtered result, in the order of the table."""
    profile = server.profile(DATABASE)["id"]
    answer = server.get(
        f"/export?profile={profile}&table=kernels_of_iteration&iteration=1&sort=-timestamp_ns&offset=1&limit=1"
        "&where.gpu_time_ns=>1us&search=add&columns=timestamp_ns,name&format=csv&heading=yes"
    )
    lines = list(csv.reader(io.StringIO(answer.text, newline="")))
    assert lines[0] == [f'run/a {DATABASE}: Kernels of iteration, iteration 1 (only with "add", GPU Time >1us)']
    assert lines[1] == ["Kernel Timestamp (ns)", "Kernel Name"]
    times = [int(line[0]) for line in lines[2:]]
    assert len(times) == 2
    assert times == sorted(times, reverse=True)


def test_it_is_a_download_named_after_the_profile(server: Server) -> None:
    """Not shown in the page, not guessed at, not kept."""
    profile = server.profile(DATABASE)["id"]
    headers = server.get(f"/export?profile={profile}&table=ops&format=csv").headers
    assert headers["Content-Disposition"].startswith(f'attachment; filename="run_a {DATABASE}-ops.csv"')
    of_one = server.get(f"/export?profile={profile}&table=kernels_of_iteration&iteration=1&format=json").headers
    assert f"{DATABASE}-kernels_of_iteration-1.json" in of_one["Content-Disposition"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Type"] == "text/csv; charset=utf-8"


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("table=ops&format=doc", 400, "bad_parameter"),
        ("table=ops&columns=nothing", 400, "bad_parameter"),
        ("table=ops&where.calls=x", 400, "bad_parameter"),
        ("table=kernels_of_iteration&iteration=x", 400, "bad_parameter"),
        ("table=kernels_of_iteration", 400, "bad_parameter"),
        ("table=nothing", 404, "not_found"),
        ("table=ops&aggregation=9", 404, "not_found"),
    ],
)
def test_what_cannot_be_exported_is_said_before_the_download(
    server: Server, query: str, status: int, code: str
) -> None:
    """With the error body instead of half a file."""
    answer = server.get(f"/export?profile={server.profile(DATABASE)['id']}&{query}")
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)


@pytest.mark.parametrize(("kind", "limit"), [("xlsx", "MAX_XLSX_ROWS"), ("pdf", "MAX_PDF_ROWS")])
def test_a_file_of_too_many_rows_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch, kind: str, limit: str
) -> None:
    """CSV has no limit."""
    monkeypatch.setattr(export, limit, 1)
    profile = server.profile(DATABASE)["id"]
    assert server.get(f"/export?profile={profile}&table=ops&format={kind}").status_code == 413
    assert server.get(f"/export?profile={profile}&table=ops&format=csv").status_code == 200


def test_a_download_that_is_given_up_gives_its_connection_back(server: Server) -> None:
    """More of them than places for heavy requests; none is read to its end, some not at all."""
    profile = server.profile(DATABASE)["id"]
    address = f"/export?profile={profile}&table=ops&format=json"
    for _ in range(6):
        with closing(server.get(address, buffered=False)):
            pass
        assert server.client.head(address).data == b""
    assert server.get(f"/table?profile={profile}&table=ops").status_code == 200


def test_workbooks_are_removed_when_they_were_sent(server: Server) -> None:
    """And their folders: given up or not."""
    profile = server.profile(DATABASE)["id"]
    address = f"/export?profile={profile}&table=ops&format=xlsx"
    cache = server.services.imports.cache.folder
    with closing(server.get(address, buffered=False)):
        assert list(cache.glob("work-*"))
    assert server.get(address).data
    assert not list(cache.glob("work-*"))


def test_a_file_that_breaks_off_breaks_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    """Else it would pass for the whole. The log has a sentence, and the server prints no traceback of such errors."""

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise UnfitDatabase("a.sqlite is damaged.")

    closed: list[bool] = []
    resources = ExitStack()
    resources.callback(closed.append, True)
    sent = responses.until_sent(pieces(), resources)
    assert next(sent) == b"half"
    with pytest.raises(ConnectionAbortedError):
        next(sent)
    assert closed == [True]
    assert "a.sqlite is damaged." in caplog.text


def test_few_workbooks_are_written_at_once(tmp_path: Path) -> None:
    """Others are refused instead of slowing the machine; whoever gave up ends the process and frees the place."""
    exporter = Exporter(Cache(tmp_path / "cache"), 1 << 30)
    ours, browser = socket.socketpair()
    with ours, exporter.place() as folder, exporter.place():
        with pytest.raises(responses.Busy, match="2 workbooks"), exporter.place():
            pass
        browser.close()
        job = {"source": str(tmp_path / "nothing"), "is_comparison": False, "query": "", "name": "", "file_name": ""}
        with pytest.raises(ProfileError, match="took too long"):
            exporter.write(folder, job, {"werkzeug.socket": ours})
    with exporter.place():
        pass
    assert not list((tmp_path / "cache").glob("work-*"))
