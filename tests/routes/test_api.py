"""The routes through a real WSGI client."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tensorboard_plugin_dlprof.routes import app, responses, turns
from tensorboard_plugin_dlprof.routes.profiles import profile_list
from tensorboard_plugin_dlprof.runs import catalog
from tests.imports.holding import hold_workers
from tests.imports.traces import write_trace
from tests.routes.serving import OURS, Server
from tests.waiting import wait_for

DATABASE = "made.dlprof_dldb.sqlite"
SOURCE = "rank0.pt.trace.json"


def dashboard(server: Server, name: str) -> str:
    """Address of the dashboard of a profile."""
    return f"/dashboard?profile={server.profile(name)['id']}"


def test_the_list_shows_databases_and_sources(server: Server) -> None:
    """A database is ready, a source waits to be imported."""
    first, second = server.profiles()
    assert (first["run"], first["name"], first["kind"], first["state"]) == ("run/a", DATABASE, "database", "ready")
    assert (second["run"], second["name"], second["kind"]) == ("run/b", SOURCE, "source")
    assert second["state"] == "not_imported"
    assert (second["rank"], second["format"]) == (0, "pytorch")


def test_headlines_arrive(server: Server) -> None:
    """The databases are opened after the list is there."""
    assert wait_for(lambda: server.profile(DATABASE)["headline"])["iterations"] == 3


def test_the_dashboard(server: Server) -> None:
    """All of it in one answer."""
    answer = server.get(dashboard(server, DATABASE))
    assert answer.status_code == 200
    assert answer.json["kernel_time"]["total"]["launches"] == 6
    assert answer.json["profile"]["run"] == "run/a"


def test_a_table_page(server: Server) -> None:
    """Sorted, searched and filtered by the parameters."""
    profile = server.profile(DATABASE)["id"]
    answer = server.get(f"/table?profile={profile}&table=ops&sort=name&search=add&where.gpu_time_ns=>1us&limit=1").json
    assert [row["op_type"] for row in answer["rows"]] == ["add"]
    assert answer["sort"] == "name"
    kernels = server.get(f"/table?profile={profile}&table=kernels_of_op&op={answer['rows'][0]['op_id']}").json
    assert kernels["total"] == 1


def test_a_source_is_imported_on_demand(server: Server, logdir: Path) -> None:
    """409 before, then the same dashboard as of any database; the log directory is as it was."""
    before = sorted(path for path in logdir.rglob("*"))
    assert server.get(dashboard(server, SOURCE)).status_code == 409
    answer = server.change("/import", server.profile(SOURCE)["id"])
    assert answer.json["state"] in ("queued", "importing")
    server.wait_for_state(SOURCE, "ready")
    assert server.get(dashboard(server, SOURCE)).json["kernel_time"]["total"]["launches"] == 6
    assert wait_for(lambda: server.profile(SOURCE)["headline"])["iterations"] == 3
    assert sorted(path for path in logdir.rglob("*")) == before


def test_the_second_open_is_served_from_the_cache(server: Server, logdir: Path, tmp_path: Path) -> None:
    """A new server with the same cache has it ready at once."""
    server.change("/import", server.profile(SOURCE)["id"])
    server.wait_for_state(SOURCE, "ready")
    assert Server(logdir, tmp_path / "cache").profile(SOURCE)["state"] == "ready"
    assert Server(logdir, tmp_path / "other").profile(SOURCE)["state"] == "not_imported"


def test_progress_is_shown_and_an_import_can_be_cancelled(
    server: Server, logdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it waits to be imported again, and says that it was cancelled."""
    hold_workers(monkeypatch, tmp_path / "held")
    write_trace(logdir / "long.pt.trace.json")
    server.rescan()
    profile = server.profile("long.pt.trace.json")["id"]
    server.change("/import", profile)
    progress = wait_for(lambda: server.profile("long.pt.trace.json")["progress"])
    assert set(progress) == {"stage", "fraction", "elapsed_s"}
    server.change("/cancel", profile)
    result = server.wait_for_state("long.pt.trace.json", "not_imported")
    assert "cancelled" in result["message"]


def test_more_imports_than_can_wait_are_put_off(server: Server, logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is busy; nothing is wrong with the profile."""
    monkeypatch.setattr("tensorboard_plugin_dlprof.imports.manager.MAX_QUEUE", 1)
    names = [f"{name}.pt.trace.json" for name in "xyz"]
    for name in names:
        write_trace(logdir / name)
    server.rescan()
    first, second, third = (server.profile(name)["id"] for name in names)
    with server.services.imports.turn:
        server.change("/import", first)
        server.wait_for_state(names[0], "importing")
        assert server.change("/import", second).json["state"] == "queued"
        busy = server.change("/import", third)
        server.change("/cancel", second)
        server.change("/cancel", first)
    assert (busy.status_code, busy.headers["Retry-After"], busy.json["error"]["code"]) == (503, "1", "busy")
    assert server.wait_for_state(names[0], "not_imported")["message"]
    assert server.profile(names[2])["message"] == ""


def test_an_import_that_fails_says_why_and_harms_no_other(server: Server, logdir: Path) -> None:
    """By its head it is a trace; later it has events a second time."""
    source = write_trace(logdir / "broken.pt.trace.json")
    source.write_text(source.read_text()[:-1] + ', "traceEvents": [{"ph": "X"}]}')
    server.rescan()
    server.change("/import", server.profile("broken.pt.trace.json")["id"])
    assert "traceEvents more than once" in server.wait_for_state("broken.pt.trace.json", "failed")["message"]
    assert server.get(dashboard(server, DATABASE)).status_code == 200


def test_imports_can_be_switched_off(logdir: Path, tmp_path: Path) -> None:
    """For shared servers."""
    server = Server(logdir, tmp_path / "cache", import_mode="off")
    answer = server.change("/import", server.profile(SOURCE)["id"])
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "forbidden")
    assert server.get("/profiles").json["import_mode"] == "off"


@pytest.mark.parametrize("path", ["/profiles", "/dashboard", "/table", "/static/index.js"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_what_reads_takes_no_other_method(server: Server, path: str, method: str) -> None:
    """And says which it takes."""
    answer = server.client.open(path, method=method)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert answer.json["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/import", "/cancel"])
def test_what_changes_takes_only_our_own_posts(server: Server, path: str) -> None:
    """A form or a script of another site can send none of these."""
    profile = server.profile(SOURCE)["id"]
    assert server.get(path).status_code == 405
    assert server.client.post(path, data=json.dumps({"profile": profile})).status_code == 403
    assert server.client.post(path, json={"profile": profile}).status_code == 403
    assert server.client.post(path, data="{}", content_type="text/plain", headers=OURS).status_code == 403
    for site in ("cross-site", "same-site"):
        headers = {**OURS, "Sec-Fetch-Site": site}
        assert server.change(path, profile, headers=headers).status_code == 403
    assert server.profile(SOURCE)["state"] == "not_imported"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"profile": 5}', 400),
        (b'{"profile": "../../etc/passwd"}', 400),
        (b'{"profile": "0123456789abcdef"}', 404),
        (b"[" * 4_000, 400),
        (b" " * 5_000, 413),
    ],
)
def test_wrong_bodies(server: Server, body: bytes, status: int) -> None:
    """Each with the one error body."""
    server.profiles()
    answer = server.client.post("/import", data=body, content_type="application/json", headers=OURS)
    assert answer.status_code == status
    assert set(answer.json["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("profile=../../etc/passwd", 400),
        ("profile=%2e%2e%2f", 400),
        ("profile=/etc/passwd", 400),
        ("profile=%00", 400),
        ("profile=0123456789abcdef&table=ops", 404),
        ("profile=ID&table=nothing", 404),
        ("profile=ID", 400),
        ("profile=ID&table=ops&limit=-1", 400),
        ("profile=ID&table=ops&limit=1e9", 400),
        ("profile=ID&table=ops&limit=1001", 400),
        ("profile=ID&table=ops&limit=1;drop", 400),
        ("profile=ID&table=ops&offset=NaN", 400),
        ("profile=ID&table=ops&sort=name;--", 400),
        ("profile=ID&table=ops&where.gpu_time_ns=NaN", 400),
        ("profile=ID&table=ops&where.nothing=1", 400),
        ("profile=ID&table=ops&aggregation=99", 404),
        ("profile=ID&table=ops&aggregation=x", 400),
        ("profile=ID&table=ops&search=" + "x" * 3_000, 400),
        ("profile=ID&table=ops&search=" + "x" * 100_000, 413),
        ("profile=ID&table=kernels_of_op", 400),
        ("profile=ID&table=kernels_of_op&op=%27%20OR%201", 200),
        ("profile=ID&table=ops&offset=999999999", 200),
    ],
)
def test_wrong_parameters(server: Server, query: str, status: int) -> None:
    """Refused with a sentence, or an empty page; never a traceback."""
    answer = server.get("/table?" + query.replace("ID", server.profile(DATABASE)["id"]))
    assert answer.status_code == status
    if status != 200:
        assert answer.json["error"]["message"]
        assert "Traceback" not in answer.text


def test_an_unchanged_answer_is_not_sent_again(server: Server, logdir: Path) -> None:
    """Until the database changes or the question is another."""
    path = dashboard(server, DATABASE)
    tag = server.get(path).headers["ETag"]
    again = server.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Content-Type"] == "application/json"
    assert server.get(f"{path}&aggregation=1", headers={"If-None-Match": tag}).status_code == 200
    os.utime(logdir / "run" / "a" / DATABASE)
    assert server.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_a_database_replaced_or_deleted_while_open(server: Server, logdir: Path) -> None:
    """The next request serves the new file, or says that it is gone."""
    path = dashboard(server, DATABASE)
    assert server.get(path).json["performance"]["total_iterations"] == 3
    file = logdir / "run" / "a" / DATABASE
    other = Server(_imported_logdir(file.parent.parent / "c"), logdir.parent / "cache")
    other.change("/import", other.profile("five.json")["id"])
    other.wait_for_state("five.json", "ready")
    made = next((logdir.parent / "cache").glob("*.sqlite"))
    made.replace(file)
    assert server.get(path).json["performance"]["total_iterations"] == 5
    file.unlink()
    assert server.get(path).status_code == 404


def _imported_logdir(folder: Path) -> Path:
    write_trace(folder / "five.json", steps=5)
    return folder


def test_answers_are_compressed_for_those_who_ask(server: Server) -> None:
    """And plain for the others."""
    path = dashboard(server, DATABASE)
    packed = server.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.data)) == server.get(path).json


def test_head_answers_without_a_body(server: Server) -> None:
    """As GET otherwise."""
    answer = server.client.head(dashboard(server, DATABASE))
    assert (answer.status_code, answer.data) == (200, b"")


def test_heavy_requests_do_not_pile_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all places of a database taken: 503 and when to come back; the list, and others, answer all the while."""
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.01)
    server.app._questions._places = remaining = turns.Places()
    path = dashboard(server, DATABASE)
    database = Path(server.services.catalog.find(server.profile(DATABASE)["id"]).database.place())
    with ExitStack() as taken:
        for _ in range(turns.EACH):
            taken.enter_context(remaining.place([database]))
        busy = server.get(path)
        assert (busy.status_code, busy.headers["Retry-After"], busy.json["error"]["code"]) == (503, "1", "busy")
        assert server.get("/profiles").status_code == 200
        taken.enter_context(remaining.place([Path("another")]))
    assert server.get(path).status_code == 200


def test_databases_that_were_slow_share_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, others find places."""
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.01)
    remaining, slow = turns.Places(), [Path(str(number)) for number in range(turns.AT_ONCE)]
    monkeypatch.setattr(turns, "SLOW_SECONDS", 0.0)
    for path in slow:
        with remaining.place([path]):
            pass
    monkeypatch.undo()
    with remaining.place(slow[:1]), remaining.place([Path("good")]):
        for path in slow:
            with pytest.raises(responses.Busy), remaining.place([path]):
                pass


def test_many_threads_at_once(server: Server) -> None:
    """Each connection is lent to one request at a time."""
    profile = server.profile(DATABASE)["id"]
    expected = server.get(f"/table?profile={profile}&table=ops").json
    wrong: list[object] = []
    given: list[int] = []

    def ask() -> None:
        for _ in range(10):
            answer = server.get(f"/table?profile={profile}&table=ops")
            given.append(answer.status_code)
            if answer.status_code != 503 and answer.json != expected:
                wrong.append(answer.json)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(given) == 160
    assert 200 in given, "not all were put off"


def test_the_list_is_made_once_for_all_who_ask_at_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until something changes, by a scan or by an import: the list of a thousand profiles takes milliseconds."""
    server.profiles()
    made: list[int] = []

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return profile_list(*arguments)

    monkeypatch.setattr(app, "profile_list", counted)
    monkeypatch.setattr(app, "_LIST_SECONDS", 1e9)
    monkeypatch.setattr(catalog, "RESCAN_SECONDS", 1e9)
    server.rescan()
    assert len({server.get("/profiles").data for _ in range(9)}) == len(made)
    before = len(made)
    assert before <= 2, "once while it scans, and once with what is in the databases"
    server.change("/import", server.profile(SOURCE)["id"])
    server.wait_for_state(SOURCE, "ready")
    assert len(made) > before


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_read_only_log_directory_is_enough(server: Server, logdir: Path) -> None:
    """Nothing is written beside the logs, not even by SQLite."""
    folders = [path for path in (logdir, *logdir.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o500)
    try:
        server.change("/import", server.profile(SOURCE)["id"])
        server.wait_for_state(SOURCE, "ready")
        assert server.get(dashboard(server, SOURCE)).status_code == 200
        assert server.get(dashboard(server, DATABASE)).status_code == 200
        assert sorted(path.name for path in logdir.rglob("*.*")) == [DATABASE, SOURCE]
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A built frontend."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.js").write_text("export function render() {}")
    (folder / "assets" / "chart-Bx3_k9aZ.js").write_text("1")
    (tmp_path / "secret.js").write_text("secret")
    (folder / "link.js").symlink_to(tmp_path / "secret.js")
    return folder


@pytest.fixture
def static_server(logdir: Path, tmp_path: Path, bundle: Path) -> Server:
    """The routes with that frontend."""
    server = Server(logdir, tmp_path / "cache")
    msgspec.structs.force_setattr(server.services, "static_folder", bundle)
    return server


def test_the_frontend_is_served(static_server: Server) -> None:
    """The entry is checked every time; files with a hash in their name are kept for a year."""
    entry = static_server.get("/static/index.js")
    assert (entry.status_code, entry.mimetype) == (200, "text/javascript")
    assert "max-age" not in entry.headers["Cache-Control"]
    assert entry.headers["X-Content-Type-Options"] == "nosniff"
    known = static_server.get("/static/index.js", headers={"If-None-Match": entry.headers["ETag"]})
    assert (known.status_code, known.data) == (304, b"")
    assert known.headers["Content-Type"] == entry.headers["Content-Type"]  # TensorBoard warns of answers without.
    assert "max-age=31536000" in static_server.get("/static/assets/chart-Bx3_k9aZ.js").headers["Cache-Control"]


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.js", "%2e%2e/secret.js", "..%2fsecret.js", "//etc/passwd", "/etc/passwd"),
        *("assets", "", "link.js", "x\0.js", "a" * 5_000),
    ],
)
def test_nothing_else_is_served(static_server: Server, path: str) -> None:
    """Neither what lies outside nor what a link leads to."""
    answer = static_server.get(f"/static/{path}")
    assert answer.status_code == 404
    assert "secret" not in answer.text.replace("secret.js", "")


def test_a_missing_frontend_says_how_to_build_it(static_server: Server, bundle: Path) -> None:
    """For who works on a clone."""
    shutil.rmtree(bundle)
    assert "make frontend" in static_server.get("/static/index.js").json["error"]["message"]


def test_an_import_that_the_server_cannot_do_is_not_the_files_fault(logdir: Path, tmp_path: Path) -> None:
    """A cache that cannot be written, and a trace that was cut off, are told apart."""
    whole = "rank0.pt.trace.json"
    cut = logdir / "run" / "b" / "cut.pt.trace.json"
    cut.write_text('{"traceEvents": [{"ph": "X", "cat": "kernel"')
    (tmp_path / "file").write_text("no folder")
    codes = {}
    for name, cache in ((whole, tmp_path / "file"), (cut.name, tmp_path / "cache")):
        server = Server(logdir, cache)
        try:
            server.change("/import", server.profile(name)["id"])
            codes[name] = server.wait_for_state(name, "failed")["code"]
        finally:
            server.app.close()
    assert codes == {whole: "import_failed", cut.name: "unreadable"}
