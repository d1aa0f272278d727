"""Real jobs against facts that were counted straight from the raw files (``rank_facts.py`` shares no code with us)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.job_rows import opened_job
from tensorboard_plugin_dlprof.queries.job import rank_columns
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
