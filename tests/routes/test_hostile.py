"""Foreign files below the log directory: each ends in its sentence, and none harms another or tells a path."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.imports.traces import write_trace
from tests.routes.serving import Server
from tests.waiting import wait_for

Change = Callable[[Path], object]


def sql(*statements: str) -> Change:
    """Changes the database by these statements."""

    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA foreign_keys=OFF")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return change


def cut(length: int) -> Change:
    """Leaves the first bytes only; a negative length leaves off the last."""
    return lambda path: path.write_bytes(path.read_bytes()[:length])


def with_journal(path: Path) -> None:
    """Puts a journal beside the database, as a killed writer leaves it."""
    path.with_name(path.name + "-journal").write_bytes(b"unfinished")


REFUSED: dict[str, Change] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("hello"),
    "first_100_bytes": cut(100),
    "last_page_cut": cut(-4_096),
    "unfinished_transaction": with_journal,
    "missing_table": sql("DROP TABLE op_nodes"),
    "needed_table_is_a_view": sql("ALTER TABLE op_nodes RENAME TO x", "CREATE VIEW op_nodes AS SELECT * FROM x"),
    "generated_column": sql("ALTER TABLE metric ADD COLUMN big TEXT AS (hex(zeroblob(4e8)))"),
    "newer_version": sql("UPDATE db_version SET current_version = '1.9.0'"),
    "older_version": sql("UPDATE db_version SET current_version = '1.2.0'"),
    "no_aggregation": sql("DELETE FROM model_summary"),
}

SURVIVED: dict[str, Change] = {
    "nulls_are_text": sql("UPDATE metric SET sum = 'many', avg = x'00'"),
    "infinite": sql("UPDATE model_summary SET wall_time = 9e999, gpu_utilization = 9e999, avg_iteration_time = -9e999"),
    "zero_iterations": sql("DELETE FROM iteration_list", "DELETE FROM iteration_aggregation_list"),
    "zero_gpus": sql("DELETE FROM read_only_gpu_infos", "DELETE FROM device_gpu_utilizations"),
    "dangling_ids": sql("DELETE FROM dictionary WHERE id > 3"),
    "bad_utf8": sql("UPDATE read_only_system_config SET cpu_model = CAST(x'ff41' AS TEXT)"),
    "endless_view": sql(
        "DROP VIEW view_op_nodes",
        "CREATE VIEW view_op_nodes AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n",
    ),
    "script_in_names": sql("UPDATE read_only_ops SET op_name = '<img src=x onerror=alert(1)>'"),
}


def broken(server: Server, logdir: Path, made_database: Path, change: Change) -> dict[str, object]:
    """The profile of a changed database beside a good one, once it was opened."""
    target = logdir / "hostile" / "dlprof_dldb.sqlite"
    target.parent.mkdir()
    target.write_bytes(made_database.read_bytes())
    change(target)
    server.rescan()
    server.profiles()
    thread = server.services.catalog._thread
    if thread is not None:
        thread.join()
    return server.profile("dlprof_dldb.sqlite")


@pytest.mark.parametrize("name", REFUSED)
def test_unfit_databases_are_refused(server: Server, logdir: Path, made_database: Path, name: str) -> None:
    """With the file's name and no path; the good database beside it is served."""
    profile = broken(server, logdir, made_database, REFUSED[name])
    answer = server.get(f"/dashboard?profile={profile['id']}")
    assert answer.status_code == 422, answer.text
    message = answer.json["error"]["message"]
    assert message
    assert str(logdir) not in answer.text
    assert profile["state"] == "failed"
    assert str(logdir) not in str(profile["message"])
    assert server.get(f"/dashboard?profile={server.profile('made.dlprof_dldb.sqlite')['id']}").status_code == 200


@pytest.mark.parametrize("name", SURVIVED)
def test_odd_content_opens(server: Server, logdir: Path, made_database: Path, name: str) -> None:
    """Odd values are unknown, views of the file are not run, and the JSON is valid."""
    profile = broken(server, logdir, made_database, SURVIVED[name])
    for path in ("dashboard?", "table?table=ops&", "table?table=kernels_of_op&op=ADD_1&"):
        answer = server.get(f"/{path}profile={profile['id']}")
        assert answer.status_code == 200, answer.text
        assert isinstance(answer.json, dict)
        assert "NaN" not in answer.text
        assert "Infinity" not in answer.text


def test_values_that_no_query_foresees_are_refused(
    server: Server, logdir: Path, made_database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With a sentence; the log has what came of them, because it could be a bug as well."""
    change = sql("UPDATE model_summary SET iter_aggregated = 'many'")
    profile = broken(server, logdir, made_database, change)
    answer = server.get(f"/table?table=iterations&profile={profile['id']}")
    assert answer.status_code == 422, answer.text
    assert answer.json["error"]["message"].startswith("dlprof_dldb.sqlite holds impossible values")
    assert "ValueError" in caplog.text


@pytest.mark.skipif(os.name != "posix", reason="links, FIFOs and such names are POSIX's")
def test_odd_files_and_names(server: Server, logdir: Path, made_database: Path) -> None:
    """A FIFO does not hang, a link out is refused, any letters in a name are text."""
    os.mkfifo(logdir / "fifo_dlprof_dldb.sqlite")
    (logdir / "passwd_dlprof_dldb.sqlite").symlink_to("/etc/passwd")
    (logdir / "folder_dlprof_dldb.sqlite").mkdir()
    names = [
        "a.sqlite?mode=rwc&x=.dlprof_dldb.sqlite",
        "a#b.dlprof_dldb.sqlite",
        "a%20b.dlprof_dldb.sqlite",
        "new\nline.dlprof_dldb.sqlite",
        "<img src=x onerror=alert(1)>.dlprof_dldb.sqlite",
        os.fsdecode(b"caf\xe9.dlprof_dldb.sqlite"),
    ]
    for name in names:
        (logdir / name).write_bytes(made_database.read_bytes())
    server.rescan()
    profiles = [profile for profile in server.profiles() if profile["run"] == "."]
    assert server.get("/profiles").json["scan"]["refused"] == [{"run": ".", "name": "passwd_dlprof_dldb.sqlite"}]
    assert len(profiles) == len(names) + 1
    states = {profile["name"]: server.get(f"/dashboard?profile={profile['id']}").status_code for profile in profiles}
    assert states.pop("fifo_dlprof_dldb.sqlite") in (403, 422)
    assert set(states.values()) == {200}
    assert "new\N{REPLACEMENT CHARACTER}line.dlprof_dldb.sqlite" in states
    assert "caf\N{REPLACEMENT CHARACTER}.dlprof_dldb.sqlite" in states
    assert len(list(logdir.iterdir())) == len(names) + 4, "nothing was made or renamed"


def test_names_of_runs_are_text(server: Server, logdir: Path) -> None:
    """Script, quotes, right-to-left marks and terminal escapes."""
    for run in ["<script>alert(1)<", 'it\'s "quoted"', "\N{RIGHT-TO-LEFT OVERRIDE}abc", "\x1b[31mred"]:
        write_trace(logdir / run / "a.pt.trace.json")
    server.rescan()
    runs = {profile["run"] for profile in server.profiles()}
    assert "<script>alert(1)<" in runs
    assert not any("\x1b" in run or "\N{RIGHT-TO-LEFT OVERRIDE}" in run for run in runs)


@pytest.mark.skipif(os.name != "posix", reason="making links needs rights elsewhere")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_that_takes_the_place_of_a_file_is_not_followed(
    server: Server, logdir: Path, made_database: Path, tmp_path: Path, what: str
) -> None:
    """Between two scans another user may swap a database for a link to one that only the server may read."""
    place = logdir / "run" / "a"
    profile = server.profile(made_database.name)["id"]
    source = server.profile("rank0.pt.trace.json")["id"]
    secret = tmp_path / "secret"
    secret.mkdir()
    for path in (place / made_database.name, logdir / "run" / "b" / "rank0.pt.trace.json"):
        (secret / path.name).write_bytes(path.read_bytes())
        if what == "file":
            path.unlink()
            path.symlink_to(secret / path.name)
        else:
            path.unlink()
            path.parent.rmdir()
            path.parent.symlink_to(secret)
    thread = server.services.catalog._thread
    if thread is not None:
        thread.join()
    server.services.catalog._next_scan = float("inf")
    assert server.get(f"/dashboard?profile={profile}").status_code == 404
    server.change("/import", source)
    wait_for(lambda: not server.services.imports.is_busy())
    status = server.services.imports.status(source)
    assert status is not None
    assert "leads to another file" in status.message
    assert str(logdir) not in status.message
    assert not list((tmp_path / "cache").glob("*.sqlite"))


def test_a_machine_without_threads_is_busy_and_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorBoard goes on, and what was refused works once there are threads again."""

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    (tmp_path / "logs").mkdir()
    source = write_trace(tmp_path / "logs" / "a.pt.trace.json", rank=0)
    server = Server(tmp_path / "logs", tmp_path / "cache")
    try:
        with monkeypatch.context() as without:
            without.setattr(threading.Thread, "start", refuse)
            assert not server.services.catalog.any_profiles()
            assert server.get("/profiles").status_code == 200
        server.rescan()
        profile = server.profile(source.name)["id"]
        with monkeypatch.context() as without:
            without.setattr(threading.Thread, "start", refuse)
            answer = server.change("/import", profile)
        assert (answer.status_code, answer.json["error"]["code"]) == (503, "busy")
        assert server.change("/import", profile).status_code == 200
        assert server.wait_for_state(source.name, "ready", "failed")["state"] == "ready"
    finally:
        server.app.close()
