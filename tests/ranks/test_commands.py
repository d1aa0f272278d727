"""The commands for many ranks: import with ``--job``, job, distributed."""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli import exit_codes, scale_out
from tensorboard_plugin_dlprof.cli.job_import import OF_ALL, words_of_each
from tensorboard_plugin_dlprof.cli.main import main, parser
from tensorboard_plugin_dlprof.cli.scale_out import import_in_child
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tensorboard_plugin_dlprof.units import short_duration
from tests.cli.declared import undeclared

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dlprof(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process: exit code, stdout, stderr."""

    def run(*words: str | Path) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(word) for word in words])
        output = capfd.readouterr()
        return code, output.out, output.err

    return run


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A job of four ranks in two folders, whose files have equal names, with a straggler."""
    folder = tmp_path / "traces"
    for rank, path in enumerate(write_job(Plan(tensor=1, data=4, straggler=2, ranks_a_host=1), folder)):
        path.rename(path.with_name("trace.pt.trace.json.gz"))
        assert path.parent.name == f"host{rank}"
    return folder


def test_a_job_is_imported_and_answered_for(traces: Path, tmp_path: Path, dlprof: Command) -> None:
    """Files of equal names in different folders become one job; the answer has what scripts need, to the column."""
    out = tmp_path / "out"
    code, said, _ = dlprof("import", traces, "-o", out, "--job")
    assert code == exit_codes.SUCCESS
    assert "Rank 2" in said
    assert len(list(out.rglob("*.dlprof_dldb.sqlite"))) == 4
    code, said, _ = dlprof("distributed", out, "--format", "json")
    data = json.loads(said)
    assert code == exit_codes.SUCCESS
    assert data["verdict"]["rank"] == 2
    assert {"ranks", "groups", "verdict", "missing", "clocks", "left_out"} <= data.keys()
    parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
    assert all(sum(row[part] for part in parts) == row["window_ns"] for row in data["ranks"])
    _, said, _ = dlprof("distributed", out, "--format", "csv", "--iteration", "4")
    table = list(csv.DictReader(io.StringIO(said)))
    assert [row["rank"] for row in table] == ["0", "1", "2", "3"]
    assert all(sum(int(row[part]) for part in parts) == int(row["window_ns"]) for row in table)
    assert dlprof("distributed", out, "--iteration", "99")[0] == exit_codes.FAILURE
    assert dlprof("distributed", out, "--iterations", "typical")[0] == exit_codes.USAGE
    (one, other, both) = (
        json.loads(dlprof("distributed", out, "--format", "json", "--iterations", which)[1])
        for which in ("3", "4", "3-4")
    )
    assert (one["iteration"], both["iteration"], both["first_iteration"], both["last_iteration"]) == (3, None, 3, 4)
    for rows in zip(one["ranks"], other["ranks"], both["ranks"], strict=True):
        assert rows[0]["window_ns"] + rows[1]["window_ns"] == rows[2]["window_ns"]
    assert {row["iteration"] for row in both["longest_waits"]} == {3, 4}
    assert "Rank 2" in dlprof("distributed", out)[1]
    code, said, _ = dlprof("job", out)
    assert code == exit_codes.SUCCESS
    assert "up to date" in said
    data = json.loads(dlprof("job", out, "--format", "json")[1])
    assert not undeclared("job", data)
    (made,) = data["jobs"]
    assert (made["ranks"], made["world_size"], made["is_new"], data["unusable"]) == (4, 4, False, [])
    assert Path(made["database"]).is_file()
    assert "Rank 2" in made["sentence"]


def test_the_text_has_a_mean_iteration_of_each_rank(traces: Path, dlprof: Command) -> None:
    """Its rows are the sums of all iterations by their number, also of files that are named one by one; of ranks whose
    partners are missing, communication is not divided, and groups of one name and reason are one line."""
    of_folder = dlprof("distributed", traces)[1]
    sums = [
        json.loads(dlprof("distributed", traces, "--format", "json", "--iterations", str(number))[1])["ranks"][2]
        for number in range(3, 7)
    ]
    (row,) = (line.split() for line in of_folder.splitlines() if line.split()[:1] == ["2"])
    (head,) = (line for line in of_folder.splitlines() if line.startswith("rank "))
    assert head.split() == ["rank", "own", "delay", "wait", "transfer", "compute", "copy", "idle"]
    assert row[7:9] == short_duration(sum(each["compute_ns"] for each in sums) // 4).split()
    assert "means per iteration; own delay" in of_folder
    files = sorted(traces.rglob("*.gz"))
    assert dlprof("distributed", *files)[1] == of_folder
    text = dlprof("distributed", *files[1:3])[1]
    assert "rank  communication  compute" in text
    assert text.count("Group ") == 1


def test_limits_end_with_their_exit_codes(traces: Path, dlprof: Command) -> None:
    """A broken limit is 4; what is unknown is 5; traces alone are answered for, and nothing is written."""
    before = sorted(traces.rglob("*"))
    alone, in_two = (dlprof("distributed", traces, "--format", "csv", "--workers", n)[:2] for n in ("1", "2"))
    assert alone == in_two
    assert dlprof("distributed", traces, "--fail-on", "own_delay>5%")[0] == exit_codes.BROKEN
    assert dlprof("distributed", traces, "--fail-on", "own_delay>5ms")[0] == exit_codes.SUCCESS
    with pytest.raises(SystemExit):
        dlprof("distributed", traces, "--fail-on", "own_delay>+5%")
    for path in traces.rglob("*.gz"):
        if path.parent.name != "host0":
            path.unlink()
    assert dlprof("distributed", traces, "--fail-on", "own_delay>5%")[0] == exit_codes.UNDECIDED
    assert dlprof("distributed", traces, "--fail-on", "own_delay>5%", "--undecided", "ok")[0] == exit_codes.SUCCESS
    assert set(traces.rglob("*")) <= set(before)


def test_ranks_are_imported_apart_and_a_lost_one_costs_only_itself(
    traces: Path, tmp_path: Path, dlprof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In processes of their own: one file is poisoned, one process killed; running again finishes what is missing."""
    out = tmp_path / "out"
    poisoned = traces / "host3" / "trace.pt.trace.json.gz"
    content = poisoned.read_bytes()
    poisoned.write_bytes(content[: len(content) // 2] + b"\0" * 100)

    def killed(words: Sequence[str]) -> tuple[int, str, str]:
        return (-9, "", "") if "host1" in words[0] else import_in_child(words)

    with monkeypatch.context() as patch:
        patch.setattr(scale_out, "import_in_child", killed)
        code, said, errors = dlprof("import", traces, "-o", out, "--job", "--workers", "2", "--depth", "job")
    assert code == exit_codes.SOME_FAILED
    assert "host3" in errors
    (line,) = (line for line in errors.splitlines() if "host1" in line)
    assert line.endswith("its import was ended by signal 9; run the command again to finish it.")
    assert "2 of 4 ranks" in said
    assert len(list(out.rglob("*.dlprof_rank.sqlite"))) == 2
    poisoned.write_bytes(content)
    code, said, _ = dlprof("import", traces, "-o", out, "--job", "--depth", "job")
    assert code == exit_codes.SUCCESS
    assert "4 of 4 ranks" in said
    assert not list(out.rglob("*.tmp-*"))


def test_each_rank_gets_every_option_that_is_none_of_the_job() -> None:
    """Also those of tomorrow: what this test does not give a value fails it."""
    read = parser(["import"]).parse_args
    lines = (
        ["--force", "--scalars", "--key-op=a b", "--iterations=2-5", "--profile-name=-t", "--memory-limit=0.5"],
        ["--samples-per-iteration=3", "--tokens-per-iteration=4", "--rank-regex=r(\\d)", "--iter-start=0"],
        ["--iter-stop=9", "--kernel-rules=k.json", "--counters=c.csv"],
    )
    default = vars(read(["import", "x"]))
    given: set[str] = set()
    for words in lines:
        wanted = vars(read(["import", "x", *words, "--job", "--workers=8"]))
        again = vars(read(["import", "x", *words_of_each(argparse.Namespace(**wanted), "full")]))
        given |= {name for name in default.keys() - OF_ALL if wanted[name] != default[name]}
        assert {name: again[name] for name in given} == {name: wanted[name] for name in given}
    assert given == default.keys() - OF_ALL


def test_shards_share_the_work(traces: Path, tmp_path: Path, dlprof: Command) -> None:
    """Each takes every N-th source; the job is made once, when all are there."""
    out = tmp_path / "out"
    for number in (1, 2, 3):
        assert dlprof("import", traces, "-o", out, "--depth", "job", "--shard", f"{number}/3")[0] == exit_codes.SUCCESS
    assert not list(out.rglob("*_job.sqlite"))
    assert "4 of 4 ranks" in dlprof("job", out)[1]
    with pytest.raises(SystemExit):
        dlprof("import", traces, "--shard", "4/3")


def test_a_folder_without_profiles_is_told(tmp_path: Path, dlprof: Command) -> None:
    """One sentence that says what to do."""
    code, _, errors = dlprof("job", tmp_path)
    assert code == exit_codes.FAILURE
    assert "dlprof import" in errors


def test_ranks_are_found_in_paths_by_an_expression_of_the_user(tmp_path: Path, dlprof: Command) -> None:
    """Where the traces do not tell their ranks, nor names that are known; without it, processes are only numbered."""
    for rank, path in enumerate(write_job(Plan(tensor=1, data=2, straggler=None, iterations=2), tmp_path / "all")):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        del trace["distributedInfo"]["rank"]
        target = tmp_path / "job" / f"node-{1 - rank}x" / "trace.json.gz"
        target.parent.mkdir(parents=True)
        target.write_bytes(gzip.compress(json.dumps(trace).encode(), 1))

    def ranks_of(*words: str) -> list[tuple[int, str]]:
        _, said, _ = dlprof("distributed", tmp_path / "job", "--format", "json", *words)
        return [(row["rank"], row["database"].split("/")[0]) for row in json.loads(said)["ranks"]]

    assert ranks_of("--rank-regex", r"node-(\d+)x") == [(0, "node-0x"), (1, "node-1x")]
    assert "numbered" in dlprof("distributed", tmp_path / "job")[2]
    with pytest.raises(SystemExit):
        dlprof("distributed", tmp_path / "job", "--rank-regex", "node")


class _Future:
    def __init__(self, status: str, result: tuple[int, str, str] = (0, "", "")) -> None:
        self.status = status
        self.result = lambda: result


class _Cluster:
    """Dask's client of a cluster whose scheduler is lost after the first result, and one of whose workers is."""

    statuses = ("finished", "error", "cancelled", "cancelled")

    def __init__(self, **_where: str) -> None:
        self.given: list[list[str]] = []

    def __enter__(self) -> _Cluster:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def wait_for_workers(self, _count: int, timeout: float) -> None:
        assert timeout > 0

    def run(self, function: Callable[..., str], shown: str, folders: list[str]) -> dict[str, str]:
        assert all(Path(folder).is_absolute() for folder in folders), "workers work in other folders"
        return {"tcp://worker": function(self.sees(shown), folders)}

    def sees(self, shown: str) -> str:
        return shown

    def submit(self, function: Callable[..., tuple[int, str, str]], words: list[str], **_key: object) -> _Future:
        self.given.append(words)
        status = self.statuses[len(self.given) - 1]
        return _Future(status, function(words) if status == "finished" else (1, "", ""))


class _Elsewhere(_Cluster):
    """Its worker has a file system of its own, in which folders may have the same names."""

    def sees(self, shown: str) -> str:
        return f"{shown} elsewhere"


def test_workers_with_other_files_are_refused(
    traces: Path, tmp_path: Path, dlprof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would write their results where nobody looks for them."""
    module = types.ModuleType("dask.distributed")
    vars(module).update(Client=_Elsewhere, as_completed=iter)
    monkeypatch.setitem(sys.modules, "dask", types.ModuleType("dask"))
    monkeypatch.setitem(sys.modules, "dask.distributed", module)
    out = tmp_path / "out"
    code, _, errors = dlprof("import", traces, "-o", out, "--job", "--depth", "job", "--dask", "tcp://x:1")
    assert code == exit_codes.FAILURE
    assert "give it the same file system" in errors
    assert not [path for path in out.rglob("*") if path.is_file()]


def test_a_lost_scheduler_ends_in_one_sentence_and_nothing_is_lost(
    traces: Path, tmp_path: Path, dlprof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was imported is kept and compared; the same command finishes the rest."""
    module = types.ModuleType("dask.distributed")
    vars(module).update(Client=_Cluster, as_completed=iter)
    monkeypatch.setitem(sys.modules, "dask", types.ModuleType("dask"))
    monkeypatch.setitem(sys.modules, "dask.distributed", module)
    out = tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    code, said, errors = dlprof("import", "traces", "-o", "out", "--job", "--depth", "job", "--dask", "tcp://x:1")
    assert code == exit_codes.SOME_FAILED
    lost_worker, lost_scheduler = (line for line in errors.splitlines() if "error" in line)
    assert "its worker was lost; run the command again" in lost_worker
    assert "the scheduler was lost after 1 of 4 profiles; run the command again" in lost_scheduler
    assert "1 of 4 ranks" in said
    assert len(list(out.rglob("*.dlprof_rank.sqlite"))) == 1
