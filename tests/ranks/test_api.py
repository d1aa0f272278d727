"""``dlprof.open_job``: the same numbers as DataFrames."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tests.ranks.jobs import import_into


def test_a_job_as_frames(tmp_path: Path) -> None:
    """Ranks, cells, groups, collectives and the verdict; the job is made when it is opened."""
    write_job(Plan(tensor=2, data=2, straggler=1), tmp_path)
    import_into(tmp_path, sorted(tmp_path.rglob("*.gz")), tmp_path)
    job = dlprof.open_job(tmp_path)
    assert job.verdict["rank"] == 1
    cells = job.cells("own_delay")
    assert list(cells.columns) == [3, 4, 5, 6]
    assert cells.sum(axis=1).idxmax() == 1
    parts = ["compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns"]
    ranks = job.ranks()
    assert (ranks[parts].sum(axis=1) == ranks["window_ns"]).all()
    assert job.ranks(iteration=4)["window_ns"].tolist() == job.cells("duration")[4].tolist()
    assert set(job.collectives()["kind"]) == {"all_reduce", "all_gather", "reduce_scatter"}
    assert job.groups()["believed"].all()
    with pytest.raises(dlprof.ProfileError):
        job.cells("luck")
