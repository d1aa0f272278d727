from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.fingerprint import identify
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.sql_files import TABLE_SCRIPTS, layout_of
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of
from tests.database.conftest import Opened, Plain
from tests.shared_data import REPOSITORY

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions and processes")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Some source file."""
    path = tmp_path / "trace.json"
    path.write_text("{}")
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where the database goes: a folder of its own, so that everything beside it is seen."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / f"trace{DATABASE_SUFFIX}"


def _profile(kernels: int = 1) -> Profile:
    work = [Work("kernel", (10 * k, 10 * k + 5), (k, k + 1)) for k in range(kernels)]
    return profile_of([DraftOp("LINEAR_1", "/net/linear", [Call(0, kernels, work)])])


def _write(target: Path, source: Path, kernels: int = 1, **options: str) -> list[str]:
    profile = _profile(kernels)
    return write_database(target, source, profile, lambda: aggregate(profile), **options)


def test_nothing_but_the_database_is_left(target: Path, source: Path) -> None:
    """No journal, no temporary file; and the file is no WAL database, which a read-only folder could not open."""
    _write(target, source)
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.read_bytes()[18:20] == b"\x01\x01"


def test_warnings_tell_what_was_missing_and_skipped(target: Path, source: Path) -> None:
    """One sentence for each, with its count."""
    assert _write(target, source, kernels=40) == [
        "1 of 40 kernels, copies and memsets has no recorded launch call; its time (7.00 ms) is counted under "
        "unassociated ops.",
        "2 of 40 kernels, copies and memsets were launched outside of all ops; their time (2.50 ms) is counted under "
        "unassociated ops.",
        "3 skipped: events without a time.",
    ]


def test_more_rows_than_a_statement_takes_all_arrive(target: Path, source: Path, plain: Plain) -> None:
    """Whole statements, the rest, and the counts that are stored of them."""
    _write(target, source, kernels=70)
    con = plain(target)
    stored = dict(con.execute("SELECT table_name, row_count FROM ext_row_counts"))
    assert stored["kernels"] == stored["iteration_kernels"] == 70
    counted = {table: con.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in stored}
    assert stored == counted
    assert set(stored) == layout_of(*TABLE_SCRIPTS).keys() - {"ext_row_counts"}


def test_the_source_and_the_options_are_recorded(target: Path, source: Path, opened: Opened) -> None:
    """The name without its folder; a fingerprint that a copy has too."""
    _write(target, source, profile_name="baseline", original_command="dlprof import trace.json")
    con = opened(target)
    info = dict(con.execute("SELECT key, value FROM ext_info"))
    assert (info["source_name"], info["source_size_bytes"]) == ("trace.json", "2")
    copy = target.parent / "copy.json"
    copy.write_bytes(source.read_bytes())
    assert info["source_fingerprint"] == identify(copy).fingerprint
    assert "rank" not in info
    row = con.execute("SELECT profile_name, original_command FROM view_system_config").fetchone()
    assert row == ("baseline", "dlprof import trace.json")


def test_a_fingerprint_sees_a_change_at_either_end(tmp_path: Path) -> None:
    """The middle of a large file is not read."""
    large = bytearray(3 << 20)
    prints = set()
    for place in (None, 0, len(large) - 1):
        changed = bytearray(large)
        if place is not None:
            changed[place] = 1
        path = tmp_path / "large"
        path.write_bytes(changed)
        prints.add(identify(path).fingerprint)
    assert len(prints) == 3


def _interrupted(target: Path) -> None:
    with published(target, 1) as con:
        con.execute("CREATE TABLE half (done)")
        raise KeyboardInterrupt


def test_an_exception_in_the_middle_leaves_nothing(target: Path) -> None:
    """And an older database stays as it was."""
    target.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(target)
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.read_bytes() == b"old"


@posix_only
def test_being_told_to_end_while_the_file_is_made_leaves_nothing(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal is heard when the system has made it, which takes a while on a network."""
    opened = os.open

    def open_and_end(*arguments: object, **options: object) -> int:
        os.close(opened(*arguments, **options))  # type: ignore[arg-type]
        raise SystemExit(143)

    monkeypatch.setattr(os, "open", open_and_end)
    with pytest.raises(SystemExit), published(target, 0):
        pass
    assert not [path for path in target.parent.iterdir() if ".tmp-" in path.name]


def test_a_killed_import_is_swept_by_the_next(target: Path, source: Path) -> None:
    """``kill -9`` cannot clean up; what it leaves is no database by name, and the next import removes it."""
    program = (
        "import sys, time; from pathlib import Path\n"
        "from tensorboard_plugin_dlprof.database.publishing import published\n"
        "with published(Path(sys.argv[1]), 1) as con:\n"
        "    con.execute('CREATE TABLE half (done)'); print('ready', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(target)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        neighbour = [path.name for path in target.parent.iterdir()]
        assert len(neighbour) == 1
        assert ".tmp-" in neighbour[0]
        child.kill()
    assert not target.exists()
    _write(target, source)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_only_abandoned_temporary_files_are_swept(target: Path, source: Path) -> None:
    """One of another host may still be written, unless it is a day old; what users call much like it is theirs."""
    fresh = target.with_name(f"{target.name}.tmp-0123456789ab-123")
    stale = target.with_name(f"other{DATABASE_SUFFIX}.tmp-0123456789ab-123.1")
    others = [target.with_name(f"{target.name}.tmp-{name}") for name in ("backup", "0123456789ab-123-mine")]
    day_ago = time.time() - 90_000
    for path in (fresh, stale, *others):
        path.touch()
    for path in (stale, *others):
        os.utime(path, (day_ago, day_ago))
    _write(target, source)
    assert fresh.exists()
    assert not stale.exists()
    assert all(path.exists() for path in others)


def test_two_writers_at_once_both_end_well(target: Path, source: Path, plain: Plain) -> None:
    """Threads of one process share its number; each has a file of its own, and the last one stays."""
    errors: list[BaseException] = []

    def write(kernels: int) -> None:
        try:
            _write(target, source, kernels)
        except BaseException as error:  # noqa: BLE001 (handed to the test's thread)
            errors.append(error)

    threads = [threading.Thread(target=write, args=(kernels,)) for kernels in (40, 50, 60, 70)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert plain(target).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_reader_keeps_the_old_rows(target: Path, source: Path, opened: Opened) -> None:
    """A page that is open while its profile is imported again sees no mixture."""
    _write(target, source, kernels=5)
    con = opened(target)
    _write(target, source, kernels=9)
    assert con.execute("SELECT count(*) FROM read_only_kernels").fetchone() == (5,)
    assert opened(target).execute("SELECT count(*) FROM read_only_kernels").fetchone() == (9,)


def test_a_missing_folder_is_named(tmp_path: Path, source: Path) -> None:
    """What is wrong and what to do, as the caller named it."""
    with pytest.raises(OutputNotWritable, match=r"x\.sqlite cannot be written: its folder does not exist"):
        _write(tmp_path / "nowhere" / "x.sqlite", source)


@posix_only
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_named(target: Path, source: Path) -> None:
    """Nothing is left behind."""
    target.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(OutputNotWritable, match="read-only for you"):
        _write(target, source)


def test_a_folder_in_the_place_of_the_database_is_named(target: Path, source: Path) -> None:
    """And no temporary file is left."""
    target.mkdir()
    with pytest.raises(OutputNotWritable, match="it is a folder"):
        _write(target, source)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@posix_only
def test_a_full_disk_is_told_with_the_space_needed(target: Path, source: Path) -> None:
    """A limit on the size of files fails the write as a full disk does; nothing is left."""
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from tests.database.test_writer import _write\n"
        "_write(Path(sys.argv[1]), Path(sys.argv[2]), kernels=3_000)\n"
    )
    command = [sys.executable, "-c", program, str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert "OutputNotWritable" in done.stderr
    assert list(target.parent.iterdir()) == []


def test_data_that_the_storage_lost_once_is_told(target: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux tells of it at the first flush only; the second succeeds though the data are gone."""
    flush, failures = os.fsync, [OSError(errno.EIO, os.strerror(errno.EIO))]

    def fails_once(descriptor: int) -> None:
        if failures:
            raise failures.pop()
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fails_once)
    with pytest.raises(OutputNotWritable, match="check the storage"):
        _write(target, source)
    assert list(target.parent.iterdir()) == []


def test_broken_texts_are_stored(target: Path, source: Path, plain: Plain) -> None:
    """A lone surrogate is no UTF-8; the text keeps its other letters."""
    profile = profile_of(
        [DraftOp("LINEAR_1", "/net/\ud800linear", [Call(0, 1, [Work("kernel", (0, 1), name="k\udfff")])])]
    )
    write_database(target, source, profile, lambda: aggregate(profile))
    con = plain(target)
    assert con.execute("SELECT op_name FROM read_only_ops").fetchone() == ("/net/?linear",)
    assert con.execute("SELECT kernel_name FROM view_kernel_summaries").fetchone() == ("k?",)


def test_the_rows_of_an_op_lie_where_the_database_says(target: Path, source: Path, plain: Plain) -> None:
    """Calls and kernels are found by id, without an index of ten bytes a row."""
    profile = profile_of(
        [
            DraftOp("CONV_1", "/net/conv", [Call(0, 9, [Work("kernel", (1, 2))]), Call(20, 29)]),
            DraftOp("LINEAR_1", "/net/linear", [Call(40, 49, [Work("kernel", (41, 42)), Work("kernel", (43, 44))])]),
            DraftOp("RELU_1", "/net/relu", [Call(60, 69)]),
        ]
    )
    write_database(target, source, profile, lambda: aggregate(profile))
    con = plain(target)
    ranges = con.execute(
        "SELECT read_only_ops_id, first_instance_id, instances, first_kernel_id, kernels FROM ext_op_ranges"
    ).fetchall()
    assert ranges == [(1, 1, 2, 1, 1), (2, 3, 1, 2, 2), (3, 4, 1, 4, 0)]
    for op, first_call, calls, first_kernel, kernels in ranges:
        for table, first, count in (
            ("read_only_op_instances", first_call, calls),
            ("read_only_kernels", first_kernel, kernels),
        ):
            rows = con.execute(f"SELECT id FROM {table} WHERE read_only_ops_id = ? ORDER BY id", (op,)).fetchall()
            assert rows == [(number,) for number in range(first, first + count)]
