"""Which other files may be ranks of a profile's job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.scan import File
from tensorboard_plugin_dlprof.runs.siblings import siblings_of

LOGS = Path("/logs")
NOON = 1_700_000_000.0


def rank(run: str, number: int | None, **more: Any) -> ListedProfile:
    """A profile of a rank of two."""
    path = LOGS / run / f"rank{number}.pt.trace.json"
    file = File(run, path, path, 0, 0, 1, 1)
    facts: dict[str, Any] = {"format": "pytorch", "rank": number, "world_size": 2, "source": file}
    return ListedProfile(f"{run} {number}", run, path.name, **{**facts, **more})


def runs_of(own: ListedProfile, *others: ListedProfile) -> list[str]:
    """The runs of those that may be of its job; none where there are no others."""
    found = siblings_of(own, [own, *others])
    return [] if found is None else [file.run for file in found.files]


def test_other_runs_of_a_log_directory_are_no_ranks_of_a_job() -> None:
    """Neither of another time, nor of the same rank, nor of another format, nor of a folder of another name."""
    own = rank("ddp", 0, captured_at=NOON)
    for other in (
        rank("tp", 1, captured_at=NOON - 90 * 24 * 3600),
        rank("tp", 0, captured_at=NOON, world_size=None),
        rank("tp", 1, captured_at=NOON, format="xplane"),
        rank("tp", 1, world_size=None),
    ):
        assert runs_of(own, other) == []


def test_ranks_lie_in_one_folder_in_numbered_ones_or_were_recorded_together() -> None:
    """Clocks of hosts may be hours apart."""
    assert runs_of(rank("a", 0, captured_at=NOON), rank("a", 1)) == ["a", "a"]
    assert runs_of(rank("run_rank0", 0), rank("run_rank1", 1, world_size=None)) == ["run_rank0", "run_rank1"]
    assert runs_of(rank("x", 0, captured_at=NOON), rank("y", 1, captured_at=NOON + 3 * 3600)) == ["x", "y"]
