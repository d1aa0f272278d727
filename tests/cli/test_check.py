"""``dlprof check``: what is well is said to be well, and what is wrong is said."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.traces import KERNEL_NAME, write_trace
from tests.shared_data import shared_data

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def database(three_steps: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copy(three_steps, tmp_path))


def checked(capsys: Captured, *paths: Path) -> tuple[int, list[dict[str, object]]]:
    """The exit code and the reports."""
    code = main(["check", "--format", "json", *map(str, paths)])
    return code, json.loads(capsys.readouterr().out)


def failed(report: dict[str, object]) -> list[str]:
    """Names of the checks that failed."""
    return [check["check"] for check in report["checks"] if check["verdict"] == "failed"]  # type: ignore[attr-defined]


def test_a_database_of_ours_is_well(database: Path, capsys: Captured) -> None:
    """It is compared with what it was written with, and nothing is left beside it."""
    code, (report,) = checked(capsys, database)
    assert (code, report["kind"], report["passed"]) == (0, "database", True)
    verdicts = {check["check"]: check["verdict"] for check in report["checks"]}  # type: ignore[attr-defined]
    assert set(verdicts.values()) == {"passed"}
    assert {"SHA-256", "Row counts", "SQLite's own check", "Structure"} <= set(verdicts)
    assert report["holds"] | {"kernels": 6, "iterations": 3, "format": "pytorch"} == report["holds"]  # type: ignore[operator]
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_source_is_imported_somewhere_else_for_it(tmp_path: Path, capsys: Captured) -> None:
    """Nothing is written beside it."""
    source = write_trace(tmp_path / "a.json")
    code, (report,) = checked(capsys, source)
    assert (code, report["kind"], report["passed"]) == (0, "source", True)
    assert list(tmp_path.iterdir()) == [source]


def test_every_real_database_is_well(capsys: Captured) -> None:
    """NVIDIA's hold no digest; what does not apply is skipped, not passed."""
    paths = sorted((shared_data() / "dlprof-golden").glob("dlprof_dldb*.sqlite"))
    code, reports = checked(capsys, *paths)
    assert (code, [failed(report) for report in reports]) == (0, [[] for _ in paths])
    verdicts = {check["check"]: check["verdict"] for check in reports[0]["checks"]}  # type: ignore[attr-defined]
    assert verdicts["SHA-256"] == verdicts["Row counts"] == "skipped"


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("DELETE FROM kernels WHERE id = 1", "Row counts"),
        ("DELETE FROM ext_row_counts", "Row counts"),
        ("UPDATE model_summary SET gpu_utilization = 140", "Every gpu_utilization of model_summary is from 0 to 100 %"),
        ("UPDATE kernels SET gpu_time_ns = -5", "No row of read_only_kernels ends before it starts"),
        ("UPDATE ext_aggregations SET cpu_ns = cpu_ns + 1", "The parts of the wall time add up"),
        ("UPDATE ext_aggregations SET gpu_busy_ns = wall_ns + 1", "The GPU is not busy for longer than the wall time"),
        (
            "UPDATE op_nodes SET read_only_ops_id = 999 WHERE id = 1",
            "Every read_only_ops_id of op_nodes leads to a row of read_only_ops",
        ),
        ("UPDATE op_nodes SET kernel_calls = kernel_calls + 1", "Kernels by op are all aggregated kernels"),
        ("UPDATE ext_aggregations SET outside_kernels = 7", "Every kernel is in an iteration or counted as outside"),
        (
            "UPDATE ext_aggregations SET outside_memory_ops = 7",
            "Every copy and memset is in an iteration or counted as outside",
        ),
        (
            "UPDATE ext_aggregations SET outside_instances = 7",
            "Every call of an op is in an iteration or counted as outside",
        ),
    ],
)
def test_each_rule_can_fail(database: Path, capsys: Captured, statement: str, check: str) -> None:
    """And so does the digest, whatever was changed."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(statement)
        connection.commit()
    code, (report,) = checked(capsys, database)
    assert code == 1
    assert {check, "SHA-256"} <= set(failed(report))


BEYOND = "What is unknown of Tensor Cores is no more than what there is beside them"
LOST = "What is unknown of the whole is unknown of its ops and iterations"


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("UPDATE ext_aggregations SET unknown_part_ns = other_kernel_ns + 1", BEYOND),
        ("UPDATE ext_aggregations SET unknown_launches = kernel_launches + 1", BEYOND),
        ("UPDATE ext_aggregations SET eligible_ops_unknown = eligible_ops + 1", BEYOND),
        ("UPDATE ext_aggregations SET eligible_unknown_ns = -1", BEYOND),
        ("UPDATE ext_device_times SET unknown_part_ns = other_kernel_ns + 1", BEYOND),
        ("UPDATE ext_op_kernels SET unknown_ns = kernel_ns + 1", BEYOND),
        ("UPDATE ext_iteration_unknown SET unknown_part_ns = 1 << 40", BEYOND),
        ("UPDATE ext_iteration_unknown SET unknown_kernels = 1 << 40", BEYOND),
        ("UPDATE ext_aggregations SET unknown_launches = 0", LOST),
        ("UPDATE ext_aggregations SET unknown_part_ns = 0", LOST),
        ("UPDATE ext_aggregations SET eligible_ops_unknown = 0", LOST),
        ("UPDATE ext_aggregations SET graph_launches = 1", LOST),
        ("UPDATE ext_op_kernels SET unknown_kernels = 0, unknown_ns = 0", LOST),
        ("DELETE FROM ext_iteration_unknown", LOST),
    ],
)
def test_what_is_unknown_is_kept_of_whole_and_parts(
    tmp_path: Path, capsys: Captured, statement: str, check: str
) -> None:
    """None is 0 where the whole is unknown, none exceeds it; an untouched database keeps both rules."""
    source = write_trace(tmp_path / "a.json")
    text = source.read_text().replace("aten::add", "aten::mm").replace(KERNEL_NAME, "triton_tem_fused_mm_0")
    half = '"Input type": ["c10::Half", "c10::Half"], "Input Dims"'
    source.write_text(text.replace('"Input Dims"', half))
    spoilt = tmp_path / "spoilt.dlprof_dldb.sqlite"
    import_source(source, spoilt, ImportOptions(), lambda _stage, _fraction: None)
    _, (report,) = checked(capsys, spoilt)
    assert report["passed"]
    with closing(sqlite3.connect(spoilt)) as connection, connection:
        assert connection.execute(statement).rowcount > 0
    _, (report,) = checked(capsys, spoilt)
    assert check in failed(report)


def test_damage_that_sqlite_reads_without_an_error_is_found(database: Path, capsys: Captured) -> None:
    """One letter of a name."""
    content = database.read_bytes()
    database.write_bytes(content.replace(b"vectorized_elementwise", b"vectorized_elementwisE"))
    code, (report,) = checked(capsys, database)
    assert (code, failed(report)) == (1, ["SHA-256"])


def test_what_is_no_profile_is_one_finding(tmp_path: Path, capsys: Captured) -> None:
    """In the words of an import; an exit code of 3 tells that other files are well."""
    (tmp_path / "a.json").write_text("hello")
    (tmp_path / "cut.dlprof_dldb.sqlite").write_bytes(b"SQLite format 3\0")
    good = write_trace(tmp_path / "good.json")
    code, reports = checked(capsys, tmp_path / "a.json", tmp_path / "cut.dlprof_dldb.sqlite", tmp_path / "gone", good)
    assert code == 3
    assert [report["passed"] for report in reports] == [False, False, False, True]
    assert [len(failed(report)) for report in reports] == [1, 1, 1, 0]


def test_a_trace_that_is_cut_short_is_not_complete(tmp_path: Path, capsys: Captured) -> None:
    """Though an import reads what there is of it."""
    source = write_trace(tmp_path / "a.json")
    source.write_bytes(source.read_bytes()[:-300])
    code, (report,) = checked(capsys, source)
    assert (code, failed(report)) == (1, ["Completeness"])
    assert report["holds"]["kernels"]  # type: ignore[index]
    assert main(["check", str(source)]) == 1
    assert "FAILED Completeness: a.json is cut short" in capsys.readouterr().out.replace(f"{tmp_path}/", "")


def test_a_folder_means_every_source_and_database_below_it(tmp_path: Path, database: Path, capsys: Captured) -> None:
    """Each file once, in the order of the paths; a database whatever it is called; other files are passed over."""
    folder = tmp_path / "logs"
    write_trace(folder / "b.json")
    (folder / "settings.json").write_text('{"lr": 0.1}')
    (folder / "b.dlprof_dldb.sqlite").write_bytes(b"SQLite format 3\0")
    (folder / "run").mkdir()
    database.rename(folder / "run" / "renamed.sqlite")
    code, reports = checked(capsys, folder, folder / "b.json")
    assert code == 3
    assert [(Path(str(report["file"])).name, report["passed"]) for report in reports] == [
        ("b.dlprof_dldb.sqlite", False),
        ("b.json", True),
        ("renamed.sqlite", True),
    ]


def test_a_pattern_means_the_files_that_match(tmp_path: Path, database: Path, capsys: Captured) -> None:
    """Quoted, where the shell has none; databases too."""
    write_trace(tmp_path / "b.json")
    code, reports = checked(capsys, tmp_path / "*")
    assert code == 0
    assert [Path(str(report["file"])).name for report in reports] == [database.name, "b.json"]


@pytest.mark.parametrize("name", ["", "*.json", "gone"])
def test_what_means_no_file_is_one_finding(tmp_path: Path, capsys: Captured, name: str) -> None:
    """An empty folder, a pattern without a match, a file that is not there."""
    code, (report,) = checked(capsys, tmp_path / name)
    assert (code, failed(report)) == (1, ["Format"])


def test_people_get_text(database: Path, capsys: Captured) -> None:
    """One line for each check, and what it holds."""
    assert main(["check", str(database)]) == 0
    text = capsys.readouterr().out
    assert "all is well" in text
    assert "ok     SHA-256" in text
    assert "kernels 6" in text


def test_the_database_of_a_job_is_checked_too(tmp_path: Path, capsys: Captured) -> None:
    """As it is, and with a table that holds nonsense."""
    for rank in (0, 1):
        write_trace(tmp_path / f"rank{rank}.pt.trace.json", rank=rank)
    assert main(["import", "--job", "-o", str(tmp_path / "job"), *map(str, tmp_path.glob("*.json"))]) == 0
    capsys.readouterr()
    (path,) = (tmp_path / "job").glob("*.dlprof_job.sqlite")
    code, reports = checked(capsys, path.parent)  # with those of its ranks
    assert (code, [report["kind"] for report in reports]) == (0, ["job", "database", "database"])
    assert (failed(reports[0]), reports[0]["holds"]["ranks"]) == ([], 2)
    with closing(sqlite3.connect(path)) as con:
        con.execute("UPDATE job_info SET value = '[' WHERE key = 'answer'")
        con.commit()
    code, (report,) = checked(capsys, path)
    assert (code, failed(report)) == (1, ["Summary"])
