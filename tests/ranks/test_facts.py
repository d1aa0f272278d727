"""Real jobs against facts that were counted straight from the raw files (``rank_facts.py`` shares no code with us)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.database.job_rows import opened_job
from tensorboard_plugin_dlprof.queries.job import DIVIDED, iterations, rank_columns, ranks
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tests.ranks.jobs import import_into, made_in, rows
from tests.shared_data import shared_data

JOBS = {
    "v100_dlrm_8ranks": "distributed/v100_dlrm_8ranks/*.gz",
    "v100_megatron_tp2": "torch/v100_megatron_tp2_rank*/*.json",
    "h100_2gpu_nsight": "nsight/h100_2gpu_torchrun_nccl/*.sqlite",
}


@pytest.mark.parametrize("name", JOBS)
def test_a_real_job_has_the_numbers_of_its_raw_files(name: str, tmp_path: Path) -> None:
    """Each rank's parts, what it waited for others, what it itself cost, and its clock: exact to the nanosecond."""
    data = shared_data()
    facts_file = data / "distributed" / name / "facts.json"
    sources = sorted(data.glob(JOBS[name]))
    if not sources or not facts_file.exists():
        pytest.skip("the recorded job is not at hand")
    facts = json.loads(facts_file.read_text())
    import_into(tmp_path / "job", sources)
    made = made_in(tmp_path / "job")
    result = {row["rank"]: row for row in rows(made, "SELECT * FROM job_ranks")}
    across = facts["across"]
    with opened_job(made.database) as connection:
        shown = rank_columns(connection)
    for rank in facts["ranks"]:
        row, whole, number = result[rank["rank"]], rank["whole_capture"], str(rank["rank"])
        assert row["window_ns"] == whole["window_ns"]
        assert row["compute_ns"] == whole["compute_ns"]
        assert row["exposed_communication_ns"] == whole["exposed_comm_ns"]
        assert row["exposed_copy_ns"] == whole["exposed_copy_ns"]
        assert row["idle_ns"] == whole["idle_ns"]
        assert row["overlapped_ns"] == whole["overlapped_comm_ns"]
        if steps := list(rank.get("steps", {}).values()):
            place = shown["rank"].index(rank["rank"])
            assert shown["iterations"][place] == len(steps)
            for name, of_steps in (
                *(("window_ns", "window_ns"), ("compute_ns", "compute_ns"), ("idle_ns", "idle_ns")),
                *(("exposed_communication_ns", "exposed_comm_ns"), ("overlapped_ns", "overlapped_comm_ns")),
            ):
                assert shown[name][place] == sum(step[of_steps] for step in steps), "of the iterations, on the page"
        exposed = across["exposed_by_rank"][number]
        assert row["exposed_transfer_ns"] == exposed["exposed_transfer_ns"]
        assert row["exposed_wait_ns"] == exposed["exposed_wait_ns"]
        assert row["exposed_unmatched_ns"] == exposed["exposed_unmatched_comm_ns"]
        assert row["own_delay_ns"] == across["own_delay_ns_by_rank"][number]
        assert row["clock_offset_ns"] == across["clocks"]["offset_ns_by_rank"][number]
    assert len(rows(made, "SELECT 1 FROM job_collectives")) == across["matched"] - sum(
        across["not_synchronising"].values()
    )


@pytest.mark.parametrize("name", ["", "v100_dlrm_8ranks", "v100_megatron_tp2"])
def test_a_rank_is_divided_as_its_own_pages_divide_it(name: str, tmp_path: Path) -> None:
    """Each part of each of its iterations is that of ``dlprof diagnose``, and all of them add up."""
    if name:
        sources = sorted(shared_data().glob(JOBS[name]))
        if not sources:
            pytest.skip("the recorded job is not at hand")
        import_into(tmp_path / "job", sources)
    else:
        write_job(Plan(tensor=2, data=2, straggler=1), tmp_path)
        import_into(tmp_path, sorted(tmp_path.rglob("*.gz")), tmp_path)
    made = made_in(tmp_path / "job" if name else tmp_path)
    with opened_job(made.database) as connection:
        by_iteration = {row["iteration"]: ranks(connection, (row["iteration"],) * 2) for row in iterations(connection)}
    compared = 0
    for place, database in enumerate(row["database"] for row in next(iter(by_iteration.values()))):
        diagnosed = dlprof.open(made.database.parent / database).diagnosis()["iterations"]
        for one, of_ranks in zip(diagnosed, by_iteration.values(), strict=True):
            row, (device,) = of_ranks[place], one["devices"].values()
            parts = {f"{part}_ns": time for part, time in device["parts"].items()}
            assert {part: row[part] for part in parts.keys() & row.keys()} == {
                part: time for part, time in parts.items() if part in row
            }
            assert sum(row[f"{part}_ns"] for part in DIVIDED) == row["compute_ns"] + row["idle_ns"]
            assert row["compute_ns"] == sum(row[f"compute_{kind}_ns"] for kind in ("tensor", "other", "unknown"))
            compared += 1
    assert compared >= len(by_iteration)
