"""Jobs with a known answer: the right rank and cause, nobody where nobody costs time, and what cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.database.job_rows import opened_job
from tensorboard_plugin_dlprof.queries.job import costs_of, matrix
from tensorboard_plugin_dlprof.queries.job_waits import wait_fraction
from tensorboard_plugin_dlprof.samples.job import Plan
from tests.ranks.jobs import answer, import_into, imported, kernels, made_in, rows
from tests.ranks.pipelines import imported_pipelines
from tests.shared_data import shared_data


@pytest.mark.parametrize("groups", [True, False], ids=["groups", "no groups"])
@pytest.mark.parametrize("cause", ["compute", "host", "input", "link", "mixed"])
def test_the_rank_that_costs_time_is_named_with_the_cause(cause: str, groups: bool, tmp_path: Path) -> None:
    """Also across hosts with other clocks, without process groups, and if the first iteration is half unknown."""
    iterations = 2 if cause == "mixed" else 3
    plan = Plan(cause=cause, straggler=2, clock_ns=3 * 3_600_000_000_000, groups=groups, iterations=iterations)
    result = answer(made_in(imported(tmp_path, plan)))
    assert (result["verdict"]["rank"], result["verdict"]["cause"]) == (2, cause)
    assert result["clocks"]["aligned"]
    assert result["clocks"]["islands"] == 1


@pytest.mark.parametrize(("ranks_a_host", "name"), [(4, "Rank 1 (GPU 0) "), (2, "Rank 1 (host host0, GPU 0) ")])
def test_a_host_is_named_where_there_are_several(ranks_a_host: int, name: str, tmp_path: Path) -> None:
    """The only host tells no rank from another."""
    plan = Plan(tensor=2, data=2, straggler=1, ranks_a_host=ranks_a_host)
    assert answer(made_in(imported(tmp_path, plan)))["verdict"]["sentence"].startswith(name)


def test_what_another_rank_waits_beyond_an_own_delay_is_told(tmp_path: Path) -> None:
    """Of the 48.0 ms of the only iteration, 21.6 ms are at its first collective."""
    sources = sorted(shared_data().glob("torch/v100_megatron_tp2_rank*/*.json"))
    if not sources:
        pytest.skip("the recorded job is not at hand")
    import_into(tmp_path, sources)
    assert answer(made_in(tmp_path))["verdict"]["sentence"].endswith(
        " Another rank waits 48.0 ms for it: 21.4 ms of that are before the first collective and do not count."
    )


@pytest.mark.parametrize("cause", ["compute", "host", "input"])
def test_one_iteration_is_judged_from_its_start(cause: str, tmp_path: Path) -> None:
    """Nothing precedes its first operation but its start, which is enough where other ranks show what is noise."""
    plan = Plan(cause=cause, straggler=2, iterations=1, clock_ns=3 * 3_600_000_000_000)
    verdict = answer(made_in(imported(tmp_path, plan)))["verdict"]
    assert (verdict["rank"], verdict["cause"]) == (2, cause), verdict["sentence"]
    assert abs(verdict["own_delay_ns"] - plan.delay_ns) < 0.1 * plan.delay_ns
    assert ("from the start of the first iteration" in verdict["sentence"]) is (cause != "compute")


def test_a_rank_costs_no_more_than_others_wait_for_it(tmp_path: Path) -> None:
    """What its peer computes during overlapped all-reduces is not lost; a lag shows at each of them, but costs once."""
    import_into(tmp_path, [samples.DATA / name for name in samples.RUNS["transformer/bf16_ddp"]])
    made = made_in(tmp_path)
    verdict = answer(made)["verdict"]
    waited, costing = rows(made, "SELECT * FROM job_ranks ORDER BY rank")
    assert (verdict["rank"], verdict["cause"]) == (1, "input")
    assert waited["exposed_wait_ns"] == 8_111_509
    assert costing["own_delay_ns"] == 25_323_638, "as defined: summed over collectives"
    assert answer(made)["warm_up"] == [1], "which is much longer, and no part of any mean"
    of_iterations = rows(made, "SELECT iteration, own_delay_ns FROM job_iterations ORDER BY position")
    assert [row["iteration"] for row in of_iterations] == [2, 3, 4]
    assert verdict["own_delay_ns"] == sum(row["own_delay_ns"] for row in of_iterations) // 3
    with opened_job(made.database) as connection:
        cost, waiting = matrix(connection, "cost"), matrix(connection, "exposed_wait")
        assert (cost <= matrix(connection, "own_delay")).all()
        exposed = [matrix(connection, f"exposed_{part}")[0].sum() for part in ("wait", "transfer", "unmatched")]
        assert wait_fraction(connection, 0) == exposed[0] / sum(exposed)
        assert costs_of(connection) == [0, waiting[0].sum()], "never more than the other rank waits"
    assert verdict["cost_ns"] == cost[1].sum() // 3
    assert "costs about 2.58 ms of each 20.5 ms iteration (12.5 %)" in verdict["sentence"]
    assert "Its own delay, counted at each collective, is 8.03 ms an iteration" in verdict["sentence"]
    with opened_job(made.database) as connection:
        for rank, row in enumerate((waited, costing)):
            iterations = dlprof.open(made.database.parent / row["database"]).diagnosis()["iterations"]
            for part in ("data_loader", "queued"):
                told = [device["parts"][part] for each in iterations for device in each["devices"].values()]
                assert matrix(connection, part)[rank].tolist() == told[-3:], "as the rank's own diagnosis"
    (finding,) = rows(made, "SELECT gain_ns FROM job_findings WHERE rule = 'straggler'")
    assert finding["gain_ns"] == verdict["cost_ns"]


@pytest.mark.parametrize("from_step", [True, False], ids=["begins late", "has begun before"])
def test_a_rank_whose_first_iteration_only_begins_at_another_time_is_not_named(from_step: bool, tmp_path: Path) -> None:
    """One that begins late took no longer; one that begins early took longer, but nobody waited much for it."""

    def moved(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        for event in trace["traceEvents"]:
            if rank == 2 and event["name"].startswith("ProfilerStep#"):
                by = float(event["dur"]) / 4
                event["ts"] = float(event["ts"]) + (by if from_step else -by)
                event["dur"] = float(event["dur"]) - (by if from_step else -by)
        return trace

    plan = Plan(straggler=2, cause="host", iterations=1, delay_ns=1_200_000 if from_step else 60_000)
    verdict = answer(made_in(imported(tmp_path, plan, moved)))["verdict"]
    assert verdict["rank"] is None, verdict["sentence"]


@pytest.mark.parametrize(("cause", "tensor", "groups"), [("compute", 2, True), ("host", 4, False), ("input", 2, False)])
def test_a_host_all_of_whose_ranks_cost_time_is_named(cause: str, tensor: int, groups: bool, tmp_path: Path) -> None:
    """Its ranks are late together, so that none has a delay at operations of their own group."""
    plan = Plan(
        cause=cause, tensor=tensor, data=3, ranks_a_host=tensor, straggler=tensor, whole_host=True, groups=groups
    )
    result = answer(made_in(imported(tmp_path, plan)))
    verdict = result["verdict"]
    assert (verdict["host"], verdict["rank"], verdict["cause"]) == ("host1", None, cause), verdict["sentence"]
    assert verdict["sentence"].startswith("Host host1 costs about")
    assert abs(verdict["own_delay_ns"] - plan.delay_ns) < 0.4 * plan.delay_ns
    assert verdict["runners_up"] == []


def test_kernels_that_communicate_while_they_multiply_count_as_compute_which_is_said(tmp_path: Path) -> None:
    """Nobody can tell their parts apart."""

    def fused(_rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        for event in trace["traceEvents"]:
            if event["cat"] == "kernel" and "xmma_gemm" in event["name"]:
                event["name"] = "cutlass::device_kernel<flux::GemmAllReduceKernel>"
        return trace

    plan = Plan(tensor=1, data=2, iterations=2)
    plain = answer(made_in(imported(tmp_path / "plain", plan)))
    result = answer(made_in(imported(tmp_path / "fused", plan, fused)))
    assert (plain["left_out"]["fused"], result["left_out"]["fused"]) == (0, 2 * 2 * 2 * 2)
    assert result["exposed_communication_fraction"] == plain["exposed_communication_fraction"]
    assert any("16 kernels that communicate while they multiply matrices" in text for text in result["left_out_texts"])


@pytest.mark.parametrize(
    ("noise", "data", "seed"), [(0.02, 4, 1), (0.3, 1, 1), (0.3, 4, 6), *((0.4, 2, seed) for seed in range(5))]
)
def test_nobody_is_named_where_nobody_costs_time(noise: float, data: int, seed: int, tmp_path: Path) -> None:
    """Noise delays every rank now and then: the one that it delays most is not far from the others."""
    plan = Plan(straggler=None, iterations=3, noise=noise, data=data, seed=seed)
    verdict = answer(made_in(imported(tmp_path, plan)))["verdict"]
    assert verdict["judged"]
    assert verdict["rank"] is None
    assert verdict["cause"] is None


def test_the_same_kernels_that_take_longer_are_told_from_more_work(tmp_path: Path) -> None:
    """A slow GPU is another matter than more tokens."""
    assert answer(made_in(imported(tmp_path / "slow", Plan(iterations=2))))["verdict"]["detail"] == "slow GPU"

    def larger(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        for event in trace["traceEvents"]:
            if rank == 5 and event["cat"] == "kernel" and "gemm" in event["name"]:
                event["args"]["grid"] = [264, 1, 1]
        return trace

    assert answer(made_in(imported(tmp_path / "more", Plan(iterations=2), larger)))["verdict"]["detail"] == "more work"


def test_launched_work_that_waits_is_no_late_host(tmp_path: Path) -> None:
    """A GPU that others use, too, begins late what was launched in time; nothing is said against its host."""

    def ahead(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        events = sorted(trace["traceEvents"], key=lambda event: float(event["ts"]))
        begin = 0.0
        for event in events if rank == 5 else ():
            if event["name"].startswith("ProfilerStep#"):
                begin = float(event["ts"])
            elif event["cat"] == "cuda_runtime":
                begin += 6
                event["ts"] = begin
        return trace

    plan = Plan(cause="host", iterations=3)
    assert answer(made_in(imported(tmp_path / "late", plan)))["verdict"]["detail"] == "the host launches late"
    verdict = answer(made_in(imported(tmp_path / "ahead", plan, ahead)))["verdict"]
    assert (verdict["rank"], verdict["cause"], verdict["detail"]) == (5, "host", "launched work waits")
    assert "work that its host has launched waits" in verdict["sentence"]


def test_parts_of_every_rank_and_iteration_add_up(tmp_path: Path) -> None:
    """Compute, exposed communication (transfer, wait, unmatched), copies and idle make the iteration, exactly."""
    from tensorboard_plugin_dlprof.database.job_rows import opened_job
    from tensorboard_plugin_dlprof.queries.job import heat_map, matrix

    made = made_in(imported(tmp_path, Plan()))
    with opened_job(made.database) as con:
        names = ("compute", "exposed_transfer", "exposed_wait", "exposed_unmatched", "copy", "idle")
        assert (sum(matrix(con, name) for name in names) == matrix(con, "duration")).all()
        shape, cells = heat_map(con, "own_delay")
    assert shape == {"rows": 8, "columns": 4, "first": 0, "ranks": 1, "iterations": 1, "unit_ns": 1}
    assert len(cells) == 4 * 8 * 4


@pytest.mark.parametrize(("stages", "slow", "cause"), [(3, 1, "compute"), (4, 3, "host"), (3, None, None)])
def test_stages_of_one_pipeline_are_compared_by_what_they_do(
    stages: int, slow: int | None, cause: str | None, tmp_path: Path
) -> None:
    """Without process groups, who ends with whom tells the pairs; without peers, whole iterations are compared."""
    result = answer(made_in(imported_pipelines(tmp_path, stages, slow=slow, cause=cause)))
    assert result["verdict"]["judged"]
    assert (result["verdict"]["rank"], result["verdict"]["cause"]) == (slow, cause), result["verdict"]["sentence"]
    assert ("Whole iterations were compared" in result["verdict"]["sentence"]) is (slow is not None)
    assert result["left_out"]["incomplete"] == 0


def test_a_stage_that_computes_longer_is_named(tmp_path: Path) -> None:
    """Each of its ranks is as fast as its peers, so that no rank is: layers belong elsewhere."""
    result = answer(made_in(imported_pipelines(tmp_path, 3, 2, cause="compute", slow_stage=1, groups=True)))
    verdict = result["verdict"]
    assert (verdict["stage"], verdict["rank"], verdict["cause"]) == (1, None, "compute")
    assert "Pipeline stage 1 computes" in verdict["sentence"]
    assert abs(verdict["own_delay_ns"] - 700_000) < 50_000
    assert verdict["runners_up"] == []


def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    """Without communication there are bars and a heat map, but nobody can be judged; one rank is no job to compare."""

    def silent(_rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        described = {event["args"]["correlation"] for event in kernels(trace)}
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e["args"].get("correlation") not in described]
        return trace

    result = answer(made_in(imported(tmp_path / "silent", Plan(tensor=1, data=2), silent)))
    assert "no communication" in result["verdict"]["sentence"]
    assert result["iterations"] == 4
    (tmp_path / "apart").mkdir()
    folder = imported_pipelines(tmp_path / "apart", 3)
    next(folder.rglob("rank1.dlprof_rank.sqlite")).unlink()
    assert "ranks are missing in every group" in answer(made_in(folder))["verdict"]["sentence"]
    folder = imported(tmp_path / "one", Plan(tensor=1, data=2))
    for path in folder.rglob("*rank1.*"):
        path.unlink()
    assert "one rank only" in answer(made_in(folder))["verdict"]["sentence"]


def test_groups_are_told_by_ranks_and_size_not_by_name(tmp_path: Path) -> None:
    """Disjoint groups may share a name, ranks may be text, lists may be printed in several ways."""

    def renamed(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        for event in kernels(trace):
            event["args"]["Process Group Name"] = (
                "1" if event["args"]["Process Group Description"] == "mesh_tp" else "2"
            )
            if rank % 2:
                event["args"]["Process Group Ranks"] = json.loads(event["args"]["Process Group Ranks"])
        trace["distributedInfo"] |= {"rank": str(rank), "world_size": 2}
        trace["distributedInfo"]["pg_config"] = [
            group | {"ranks": str(group["ranks"])} for group in trace["distributedInfo"]["pg_config"]
        ]
        return trace

    made = made_in(imported(tmp_path, Plan(iterations=2), renamed))
    result = answer(made)
    assert result["world_size"] == 8
    assert result["verdict"]["rank"] == 5
    assert result["dimensions"] == [{"kind": "dp", "size": 4}, {"kind": "tp", "size": 2}]
    assert len(rows(made, "SELECT 1 FROM job_groups WHERE believed")) == 6


def test_groups_alone_do_not_say_how_many_ranks_there_are(tmp_path: Path) -> None:
    """Rank 0 is in no group with rank 3, the others are: all of them are one job."""

    def edited(_rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        info = trace["distributedInfo"]
        del info["world_size"]
        info["pg_config"] = [group for group in info["pg_config"] if group["pg_desc"] != "default_pg"]
        return trace

    made = made_in(imported(tmp_path, Plan(data=2, straggler=None, iterations=2), edited))
    assert (made.ranks, made.world_size) == (4, 4)


def test_bandwidth_counts_what_each_link_carries(tmp_path: Path) -> None:
    """As nccl-tests do; nothing is said of contradicting sizes."""
    made = made_in(imported(tmp_path, Plan(straggler=None, iterations=2)))
    stats = {row["kind"]: row for row in rows(made, "SELECT * FROM job_collective_stats")}
    gather, reduce = stats["all_gather"], stats["all_reduce"]
    assert gather["bytes"] == 4 * 2 * (8 << 20)
    assert gather["transfer_median_ns"] == 180_000
    assert gather["bus_bandwidth"] == pytest.approx(gather["bytes"] * 3 / 4 / 180e-6)
    assert reduce["bus_bandwidth"] == pytest.approx((4 << 20) * 1 / 60e-6)
    assert reduce["peak_bandwidth"] == 450e9
    assert gather["peak_bandwidth"] is None
    assert "crosses hosts" in gather["bandwidth_reason"]
