"""``dlprof import``, as a user runs it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files
from tests.cli.traces import write_trace
from tests.run_metadata.reading import read_event_file, read_events

Captured = pytest.CaptureFixture[str]


def databases(folder: Path) -> list[str]:
    """Names of the databases below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.dlprof_dldb.sqlite"))


def test_the_database_and_the_event_file_lie_beside_the_source(tmp_path: Path, capsys: Captured) -> None:
    """One line for the result; nothing else is written."""
    source = write_trace(tmp_path / "run" / "a.pt.trace.json")
    assert main(["import", str(source)]) == 0
    database = source.parent / "a.dlprof_dldb.sqlite"
    assert capsys.readouterr().out == f"{source} -> {database}\n"
    (event_file,) = find_event_files(source.parent)
    assert sorted(source.parent.iterdir()) == sorted([source, database, event_file])
    metadata = read_event_file(event_file)
    assert metadata is not None
    assert (metadata.database_name, metadata.source_name) == (database.name, source.name)
    assert metadata.source_fingerprint
    assert metadata.source_format == "pytorch"
    assert list(metadata.gpu_names) == ["Test GPU"]
    # Three steps of 1 ms with a kernel of 0.25 ms each.
    assert metadata.headline.iterations == 3
    assert metadata.headline.wall_time_ns == 3_000_000
    assert metadata.headline.gpu_utilization_fraction == pytest.approx(0.25)


def test_a_second_import_of_the_same_source_keeps_the_database(tmp_path: Path, capsys: Captured) -> None:
    """Importing a folder again after a new run was added is quick, and not an error."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    before = (tmp_path / "a.dlprof_dldb.sqlite").stat()
    write_trace(tmp_path / "b.json")
    capsys.readouterr()
    assert main(["import", str(tmp_path)]) == 0
    assert "a.dlprof_dldb.sqlite (up to date; --force imports it again)" in capsys.readouterr().out
    assert (tmp_path / "a.dlprof_dldb.sqlite").stat().st_ino == before.st_ino
    assert databases(tmp_path) == ["a.dlprof_dldb.sqlite", "b.dlprof_dldb.sqlite"]


def test_rules_of_the_user_decide(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option and the variable name a file; a wrong one is refused before anything is imported."""
    source = write_trace(tmp_path / "a.json")
    rules = tmp_path / "rules.txt"
    rules.write_text('{"rules": [{"name": "mine", "function": "sgemm", "matrix_unit": "yes", "family": "gemm"}]}')
    assert main(["import", str(source), "--kernel-rules", str(rules)]) == 0
    with closing(open_database(tmp_path / "a.dlprof_dldb.sqlite")) as connection:
        assert ("user:mine",) in connection.execute("SELECT rule FROM ext_kernel_names").fetchall()
    monkeypatch.setenv("DLPROF_KERNEL_RULES", str(rules))
    other = write_trace(tmp_path / "b.json")
    assert main(["import", str(other)]) == 0
    with closing(open_database(tmp_path / "b.dlprof_dldb.sqlite")) as connection:
        assert ("user:mine",) in connection.execute("SELECT rule FROM ext_kernel_names").fetchall()
    rules.write_text("{")
    capsys.readouterr()
    assert main(["import", str(source), "--force"]) != 0
    assert "the kernel rules are not valid JSON in line 1" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--profile-name", "x"], ["--iter-start", "1"]])
def test_a_database_that_was_made_otherwise_is_replaced_only_with_force(
    tmp_path: Path, capsys: Captured, option: list[str]
) -> None:
    """Nothing is overwritten unless the user says so."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    assert main(["import", str(source), *option]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["import", str(source), *option, "--force"]) == 0


def test_a_source_that_changed_is_imported_again_only_with_force(tmp_path: Path, capsys: Captured) -> None:
    """The old database may be all that is left of the old profile."""
    source = write_trace(tmp_path / "a.json", steps=3)
    assert main(["import", str(source)]) == 0
    write_trace(source, steps=4)
    assert main(["import", str(source)]) == 1
    assert "exists; give --force" in capsys.readouterr().err
    assert main(["import", str(source), "--force"]) == 0
    (event_file,) = find_event_files(tmp_path)
    metadata = read_event_file(event_file)
    assert metadata is not None
    assert metadata.headline.iterations == 4


def test_one_bad_source_does_not_stop_the_others(tmp_path: Path, capsys: Captured) -> None:
    """Exit code 3: some failed; each of them is named with the reason, and no traceback is shown."""
    good = write_trace(tmp_path / "good.json")
    bad = tmp_path / "bad.json"
    bad.write_text("not a trace")
    assert main(["import", str(bad), str(tmp_path / "absent.json"), str(good)]) == 3
    captured = capsys.readouterr()
    assert captured.out == f"{good} -> {tmp_path / 'good.dlprof_dldb.sqlite'}\n"
    assert "bad.json" in captured.err
    assert "absent.json: there is no such file" in captured.err
    assert "Traceback" not in captured.err
    assert databases(tmp_path) == ["good.dlprof_dldb.sqlite"]


def test_when_all_fail_the_exit_code_is_1_and_nothing_is_left(tmp_path: Path) -> None:
    """An import that fails leaves no database and no temporary file."""
    bad = tmp_path / "bad.json"
    bad.write_text('{"traceEvents": [')
    assert main(["import", str(bad)]) == 1
    assert list(tmp_path.iterdir()) == [bad]


def test_a_folder_means_every_profile_below_it(tmp_path: Path) -> None:
    """Other files are passed over: settings, databases, event files."""
    write_trace(tmp_path / "b" / "c" / "rank0.json")
    write_trace(tmp_path / "a.json")
    (tmp_path / "settings.json").write_text('{"lr": 0.1}')
    assert main(["import", str(tmp_path), "--scalars"]) == 0
    assert databases(tmp_path) == ["a.dlprof_dldb.sqlite", "b/c/rank0.dlprof_dldb.sqlite"]


def test_a_broken_trace_in_a_folder_is_named(tmp_path: Path, capsys: Captured) -> None:
    """By its name it is a profile: passed over, a rank would be missing without a word."""
    write_trace(tmp_path / "rank0.pt.trace.json")
    (tmp_path / "rank1.pt.trace.json").write_bytes(b"")
    assert main(["import", str(tmp_path)]) == 3
    assert "rank1.pt.trace.json is empty" in capsys.readouterr().err
    assert databases(tmp_path) == ["rank0.dlprof_dldb.sqlite"]


def test_an_output_folder_is_made_and_patterns_are_expanded(tmp_path: Path) -> None:
    """A quoted pattern works where the shell has none."""
    write_trace(tmp_path / "in" / "1" / "rank0.json", rank=0)
    write_trace(tmp_path / "in" / "1" / "rank1.json", rank=1)
    assert main(["import", str(tmp_path / "in" / "**" / "*.json"), "-o", str(tmp_path / "out" / "run")]) == 0
    assert databases(tmp_path) == ["out/run/rank0.dlprof_dldb.sqlite", "out/run/rank1.dlprof_dldb.sqlite"]
    ranks = [
        metadata.rank for file in find_event_files(tmp_path / "out" / "run") if (metadata := read_event_file(file))
    ]
    assert ranks == [0, 1]


def test_two_sources_never_share_a_database(tmp_path: Path, capsys: Captured) -> None:
    """The second is refused by name, not written over the first."""
    first = write_trace(tmp_path / "1" / "trace.json")
    second = write_trace(tmp_path / "2" / "trace.json")
    assert main(["import", str(first), str(second), "-o", str(tmp_path / "out")]) == 3
    message = capsys.readouterr().err
    assert str(first) in message
    assert str(second) in message
    assert databases(tmp_path) == ["out/trace.dlprof_dldb.sqlite"]


def scalars(event_file: Path) -> dict[str, list[tuple[int, float]]]:
    """Tag -> points."""
    result: dict[str, list[tuple[int, float]]] = {}
    for event in read_events(event_file):
        for value in event.summary.value:
            if value.tensor.float_val:
                result.setdefault(value.tag, []).append((event.step, value.tensor.float_val[0]))
    return result


def test_scalars_are_written_where_asked_for(tmp_path: Path) -> None:
    """By iteration number; the kernel runs a quarter of each step, and not on Tensor Cores."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source), "--scalars"]) == 0
    (event_file,) = find_event_files(tmp_path)
    assert scalars(event_file) == {
        "dlprof/iteration_time_ms": [(0, 1.0), (1, 1.0), (2, 1.0)],
        "dlprof/gpu_utilization": [(0, 0.25), (1, 0.25), (2, 0.25)],
        "dlprof/tensor_core_time_share": [(0, 0.0), (1, 0.0), (2, 0.0)],
        "dlprof/samples_per_s": [(0, 64_000.0), (1, 64_000.0), (2, 64_000.0)],
    }


def test_scalars_of_two_ranks_in_one_run_stay_apart(tmp_path: Path) -> None:
    """One line per rank: mixed, they would be nobody's."""
    write_trace(tmp_path / "rank0.json", rank=0)
    write_trace(tmp_path / "rank1.json", rank=1)
    assert main(["import", str(tmp_path), "--scalars"]) == 0
    tags = [tag for file in find_event_files(tmp_path) for tag in scalars(file)]
    assert len(tags) == len(set(tags)) == 8
    assert "dlprof/gpu_utilization/rank1" in tags


def test_the_options_reach_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The range of iterations, the title, and the command line without its secrets."""
    source = write_trace(tmp_path / "a.json")
    arguments = ["import", str(source), "--iter-start", "1", "--iter-stop", "2", "--profile-name", "resnet"]
    monkeypatch.setattr(sys, "argv", ["dlprof", *arguments, "--token=S3CRET"])
    assert main(arguments) == 0
    with closing(open_database(tmp_path / "a.dlprof_dldb.sqlite")) as connection:
        assert connection.execute("SELECT iter_start, iter_stop FROM view_aggregations").fetchall() == [(1, 2)]
        config = connection.execute("SELECT profile_name, original_command FROM view_system_config").fetchone()
    assert config[0] == "resnet"
    assert config[1].startswith("dlprof import")
    assert "S3CRET" not in config[1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--iter-start", "3", "--iter-stop", "2"], 2, "--iter-start 3 is after --iter-stop 2"),
        (["-o", "{file}/x"], 1, "folder cannot be made"),
    ],
)
def test_wrong_options_are_explained(
    tmp_path: Path, capsys: Captured, arguments: list[str], code: int, words: str
) -> None:
    """One sentence."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source), *(argument.format(file=source) for argument in arguments)]) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--iter-start", "3"], "Iterations from 3 on cannot be selected; this profile has the iterations 0 to 2."),
        (["--key-op", "BMM_1"], "No op has the name or id 'BMM_1'; did you mean MM_1"),
    ],
)
def test_what_does_not_fit_one_of_several_profiles_names_it(
    tmp_path: Path, capsys: Captured, arguments: list[str], words: str
) -> None:
    """The others are imported."""
    short, long = write_trace(tmp_path / "short.json"), write_trace(tmp_path / "long.json", steps=5)
    long.write_text(long.read_text().replace("aten::mm", "aten::bmm"))
    assert main(["import", str(short), str(long), *arguments]) == 3
    assert f"error: {short}: {words}" in capsys.readouterr().err
    assert databases(tmp_path) == ["long.dlprof_dldb.sqlite"]


@pytest.mark.parametrize("name", ["dlprof_dldb.sqlite", "a.dlprof_dldb.sqlite"])
def test_a_database_is_no_source(tmp_path: Path, capsys: Captured, name: str) -> None:
    """It needs no import, and the user is told so; a file that only has the name of one is told what it is."""
    (tmp_path / name).write_bytes(b"<html>")
    assert main(["import", str(tmp_path / name)]) == 1
    assert "is HTML" in capsys.readouterr().err
    source = write_trace(tmp_path / "made" / "a.json")
    assert main(["import", str(source)]) == 0
    (made,) = source.parent.glob("*.sqlite")
    made.replace(tmp_path / name)
    assert main(["import", str(tmp_path / name)]) == 1
    assert "is a DLProf database already" in capsys.readouterr().err


def test_remote_storage_is_named_as_such(capsys: Captured) -> None:
    """By a command that writes beside what it reads, and credentials in the address are hidden."""
    assert main(["aggregate", "s3://key:planted@bucket/run/a.pt.trace.json"]) == 1
    said = "".join(capsys.readouterr())
    assert "s3://***@bucket/run/a.pt.trace.json is on remote storage" in said
    assert "planted" not in said


def test_names_of_files_do_not_act_on_the_terminal(tmp_path: Path) -> None:
    """Errors are one line each, whatever the files are called; results name them byte for byte."""
    bad = tmp_path / "bad\n\x1b[31m\u202e.json"
    bad.write_bytes(b"nothing")
    good = write_trace(Path(os.fsdecode(os.fsencode(tmp_path) + b"/good\xff.json")))
    done = subprocess.run(
        [sys.executable, "-m", "tensorboard_plugin_dlprof", "import", bad, good],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        check=False,
    )
    assert done.returncode == 3
    (line,) = done.stderr.decode("utf-8").splitlines()
    assert line.isprintable()
    assert "bad" in line
    assert done.stdout.startswith(os.fsencode(good) + b" -> ")


def test_a_terminal_shows_a_progress_bar_that_goes_away(tmp_path: Path) -> None:
    """Drawn on stderr when it is a terminal, and cleared before the result."""
    source = write_trace(tmp_path / "a.json")
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tensorboard_plugin_dlprof", "import", str(source)],
        stdout=subprocess.PIPE,
        stderr=follower,
    ) as process:
        assert process.stdout is not None
        result = process.stdout.read()
    os.close(follower)
    drawn = os.read(leader, 1 << 16)
    os.close(leader)
    assert result.decode() == f"{source} -> {tmp_path / 'a.dlprof_dldb.sqlite'}\n"
    assert b"a.json: " in drawn
    assert b" %  " in drawn
    assert drawn.endswith(b"\r\x1b[K")


def test_iterations_are_those_of_the_option_whatever_the_number_of_processes(tmp_path: Path) -> None:
    """Each process of its own is told which; two of three are aggregated."""
    for name in ("a", "b"):
        write_trace(tmp_path / f"{name}.json")
    assert main(["import", str(tmp_path), "--workers", "2", "--iterations", "1-2"]) == 0
    for name in ("a", "b"):
        with closing(open_database(tmp_path / f"{name}.dlprof_dldb.sqlite")) as connection:
            (aggregated,) = connection.execute("SELECT iter_start, iter_stop FROM view_aggregations").fetchall()
        assert tuple(aggregated) == (1, 2)
