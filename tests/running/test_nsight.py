"""The command lines of Nsight Systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.running.nsight import NsightOptions, find_nsys
from tensorboard_plugin_dlprof.running.record import Destination, Recorder, record
from tests.running.programs import small_export


def calls(programs: Path) -> list[list[str]]:
    """What nsys was called with."""
    return [json.loads(line) for line in (programs / "nsys_calls.jsonl").read_text().splitlines()]


def recorded(programs: Path, folder: Path, *command: str, replace: bool = False, **options: Any) -> list[Path]:
    """Sources of a run under the stand-in."""
    recorder = Recorder(find_nsys(), NsightOptions(**options))
    return record(command, recorder, Destination(folder, replace=replace)).sources


def test_the_options_of_nsys(programs: Path, tmp_path: Path) -> None:
    """CUDA, NVTX and the system's calls are recorded; reports and exports have absolute paths in a folder of ours."""
    (source,) = recorded(programs, tmp_path / "out", "python", "-c", "pass")
    assert source == tmp_path / "out" / "nsys_profile.sqlite"
    assert sorted(path.name for path in source.parent.iterdir()) == ["nsys_profile.nsys-rep", "nsys_profile.sqlite"]
    profile, export = calls(programs)
    assert profile[0] == "profile"
    assert profile[1].startswith(f"--output={tmp_path / 'out'}/.dlprof-")
    assert profile[2:] == ["--trace=cuda,nvtx,osrt", "--sample=none", "python", "-c", "pass"]
    assert export[:3] == ["export", "--type=sqlite", "--force-overwrite=true"]
    assert export[4].startswith(str(tmp_path / "out"))


def test_choices_of_the_user_replace_ours(programs: Path, tmp_path: Path) -> None:
    """nsys would refuse an option that is there twice."""
    extra = ("-t", "cuda,nvtx,cudnn", "--pytorch=autograd-nvtx")
    recorded(programs, tmp_path, "python", "-c", "", delay_s=2.5, duration_s=10, capture_range=True, extra=extra)
    assert calls(programs)[0][2:-3] == [
        *("--sample=none", "--delay=2.5", "--duration=10", "--capture-range=cudaProfilerApi"),
        *("--capture-range-end=stop", "-t", "cuda,nvtx,cudnn", "--pytorch=autograd-nvtx"),
    ]


def test_every_rank_of_mpirun_has_a_report(programs: Path, tmp_path: Path) -> None:
    """Named for its rank, and in that order: ten comes after two."""
    sources = recorded(programs, tmp_path / "out", "mpirun", "-np", "11", "-x", "A", "python", "-c", "pass")
    assert [source.name for source in sources] == [f"nsys_profile.rank{rank}.sqlite" for rank in range(11)]


def test_names_are_numbered_or_replaced(programs: Path, tmp_path: Path) -> None:
    """Nothing is overwritten unless the user says so."""
    out = tmp_path / "out"
    names = [recorded(programs, out, "python", "-c", "")[0].name for _ in range(3)]
    assert names == ["nsys_profile.sqlite", "nsys_profile_1.sqlite", "nsys_profile_2.sqlite"]
    (out / "nsys_profile.sqlite").write_text("old")
    assert recorded(programs, out, "python", "-c", "", replace=True) == [out / "nsys_profile.sqlite"]
    assert (out / "nsys_profile.sqlite").read_bytes() == (programs / "export.sqlite").read_bytes()


def test_an_export_that_fails_is_told_and_the_report_is_kept(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what nsys said last."""
    monkeypatch.setenv("NSYS_EXPORT_FAILS", "1")
    result = record(["python", "-c", "raise SystemExit(4)"], Recorder(find_nsys()), Destination(tmp_path / "out"))
    assert (result.code, result.sources) == (4, [])
    assert [str(error) for error in result.errors] == [
        "nsys_profile.nsys-rep: nsys export failed with code 1: Export failed: wrong report"
    ]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["nsys_profile.nsys-rep"]


def test_a_folder_that_cannot_be_made_is_told_before_the_program_runs(programs: Path, tmp_path: Path) -> None:
    """Not after hours."""
    blocked = small_export(tmp_path / "file")
    with pytest.raises(OutputNotWritable, match="choose another folder"):
        recorded(programs, blocked / "out", "python", "-c", f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert not (tmp_path / "ran").exists()
