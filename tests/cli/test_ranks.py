"""Many ranks at once: every profile that can be is imported, and what does not fit together is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.cli.ranks import Member, disagreements
from tests.imports.traces import write_trace

Captured = pytest.CaptureFixture[str]


def members(*ranks: int | None, size: int | None = 4) -> list[Member]:
    """One profile of each rank."""
    return [Member(f"{number}.json", rank, size) for number, rank in enumerate(ranks)]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (members(0, 1, 2, 3), []),
        (members(0), []),
        (members(None, None, size=None), []),
        (members(0, 1, size=None), []),
        (members(0, 1, 1, 2, 3), ["1.json and 2.json both have rank 1"]),
        (members(0, 1, 1, size=None), ["1.json and 2.json both have rank 1"]),
        (members(0, 1, 2, 3, 4), ["4.json has rank 4, but its job has only ranks 0 to 3"]),
        (members(0, 3), ["the job has 4 ranks, but there is no profile of ranks 1 to 2"]),
        (members(0, 1, 3), ["the job has 4 ranks, but there is no profile of rank 2"]),
        (members(1, 4, size=8), ["the job has 8 ranks, but there is no profile of ranks 0, 2 to 3, 5 to 7"]),
        ([*members(0), Member("b", 1, 8)], ["0.json belongs to a job of 4 ranks, but b to one of 8"]),
        ([Member("a", 0, 1), Member("b", 1, 2), Member("c", 0, 2)], ["a and c both have rank 0"]),
        ([Member(f"host_7.{10**18 + n}.pt.trace.json", 0, 1) for n in range(3)], []),
        (members(0, 999, size=1_000), ["the job has 1,000 ranks, but there is no profile of ranks 1 to 998"]),
        (members(*range(0, 1_000, 2), size=1_000), ["there is no profile of ranks 1, 3, 5, 7, 9, 11, 13, 15 and more"]),
    ],
)
def test_what_does_not_fit_together(result: list[Member], words: list[str]) -> None:
    """One sentence for each; a job of one rank and captures one after the other fit."""
    said = disagreements(result)
    assert len(said) == len(words), said
    assert all(text in sentence for text, sentence in zip(words, said, strict=True))


def test_hosts_with_folders_of_their_own() -> None:
    """What a neighbour holds is not missing, unless its ranks show that it is another job's."""
    assert disagreements(members(0, 1), [members(0, 1), members(2, 3)]) == []
    (said,) = disagreements(members(0, 1, size=6), [members(2, 3, size=6), members(4, 5)])
    assert said.endswith("no profile of ranks 4 to 5.")
    (said,) = disagreements(members(0, 1), [members(1, 2, 3)])
    assert said.endswith("no profile of ranks 2 to 3.")


def test_one_cut_file_of_many(tmp_path: Path, capsys: Captured) -> None:
    """The others are imported, exit 3; it is named once as broken, and its rank as missing."""
    for rank in range(6):
        write_trace(tmp_path / f"rank{rank}_trace.json", rank=rank % 2)
    cut = tmp_path / "rank3_trace.json"
    cut.write_bytes(cut.read_bytes()[:200])
    assert main(["import", str(tmp_path)]) == 3
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 5
    errors = [line for line in captured.err.splitlines() if "error" in line]
    assert len(errors) == 1
    assert "rank3_trace.json" in errors[0]
    assert [line for line in captured.err.splitlines() if "both have rank" in line]
    assert len(list(tmp_path.glob("*.dlprof_dldb.sqlite"))) == 5


def test_ranks_of_two_jobs_and_formats(tmp_path: Path, capsys: Captured) -> None:
    """Two folders are two runs: what is in one says nothing about the other."""
    write_trace(tmp_path / "a" / "rank0_trace.json", rank=0)
    write_trace(tmp_path / "b" / "rank0_trace.json", rank=0)
    write_trace(tmp_path / "b" / "rank1_trace.json", rank=1)
    assert main(["import", str(tmp_path)]) == 0
    assert "rank" not in capsys.readouterr().err
