"""Jobs of which ranks, operations or iterations are missing, or that have others by now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.job_rows import opened_job
from tensorboard_plugin_dlprof.diagnosis.known_waits import COMMUNICATION
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound
from tensorboard_plugin_dlprof.queries.job_waits import with_known_waits
from tensorboard_plugin_dlprof.ranks.job_step import Made, make_jobs
from tensorboard_plugin_dlprof.samples.job import Plan
from tests.ranks.jobs import answer, imported, kernels, made_in, rows
from tests.ranks.pipelines import imported_pipelines


def test_ranks_beside_a_missing_one_have_no_delay_of_their_own(tmp_path: Path) -> None:
    """When groups that lack it released them is known well enough, so that what they waited is not told as theirs."""
    folder = imported(tmp_path, Plan(cause="host", straggler=3, data=3, iterations=4))
    for path in folder.rglob("*rank5.*"):
        path.unlink()
    described = rows(made_in(folder), "SELECT rank, own_delay_ns FROM job_ranks ORDER BY own_delay_ns DESC")
    assert described[0]["rank"] == 3
    assert described[1]["own_delay_ns"] < described[0]["own_delay_ns"] / 5, described


def test_iterations_are_matched_by_their_number(tmp_path: Path) -> None:
    """A rank that lacks the first iteration has an empty cell there, not 0, and not the cell of another one."""
    from tensorboard_plugin_dlprof.queries.job import matrix

    def shorter(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        steps = sorted(
            (e for e in trace["traceEvents"] if e["name"].startswith("ProfilerStep#")), key=lambda e: e["ts"]
        )
        if rank == 1:
            trace["traceEvents"].remove(min(steps, key=lambda event: float(event["ts"])))
        return trace

    plan = Plan(tensor=1, data=3, straggler=2, iterations=3)
    whole, made = made_in(imported(tmp_path / "whole", plan)), made_in(imported(tmp_path / "less", plan, shorter))
    described = rows(made, "SELECT iteration, ranks FROM job_iterations")
    assert [row["ranks"] for row in described] == [2, 3, 3]
    with opened_job(whole.database) as con, opened_job(made.database) as less:
        before, after = matrix(con, "duration"), matrix(less, "duration")
    assert (after[1, 0], (after[:, 1:] == before[:, 1:]).all()) == (-1, True)
    assert answer(made)["verdict"]["rank"] == 2


def test_ranks_that_joined_late_are_matched_by_number_or_by_pattern(tmp_path: Path) -> None:
    """The first operations of a group are missing on one rank: the rest is matched, with and without ``Seq``."""

    def late(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        if rank == 6:
            dropped = {event["args"]["correlation"] for event in sorted(kernels(trace), key=lambda e: e["ts"])[:3]}
            trace["traceEvents"] = [e for e in trace["traceEvents"] if e["args"].get("correlation") not in dropped]
        return trace

    def late_without_numbers(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        for event in kernels(trace):
            del event["args"]["Seq"]
        return late(rank, trace)

    for name, edit in (("numbers", late), ("pattern", late_without_numbers)):
        result = answer(made_in(imported(tmp_path / name, Plan(iterations=2), edit)))
        assert (result["verdict"]["rank"], result["left_out"]["incomplete"]) == (5, 3), name


def test_an_order_that_does_not_match_is_not_believed(tmp_path: Path) -> None:
    """One rank's operations are shifted in time: no wait, no own delay, no name, but the reason."""

    def shuffled(rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        if rank == 2:
            ordered = sorted(kernels(trace), key=lambda event: event["ts"])
            for event, other in zip(ordered, [event["ts"] for event in reversed(ordered)], strict=True):
                event["ts"] = other
        return trace

    plan = Plan(tensor=1, data=6, groups=False)
    made = made_in(imported(tmp_path, plan, shuffled))
    ordered = answer(made)
    assert not ordered["verdict"]["judged"]
    assert ordered["verdict"]["rank"] is None
    assert all(row["own_delay_ns"] is None for row in rows(made, "SELECT own_delay_ns FROM job_ranks"))
    (group,) = rows(made, "SELECT believed, reason FROM job_groups")
    assert not group["believed"]
    assert "ends differ" in group["reason"]


def test_missing_ranks_leave_out_only_their_groups(tmp_path: Path) -> None:
    """62 of 64 ranks are a page, too; the groups of the missing ones enter no sum, and this is counted."""
    folder = imported(tmp_path, Plan())
    for path in folder.rglob("*rank3.*"):
        path.unlink()
    made = made_in(folder)
    result = answer(made)
    assert result["missing"] == {"ranks": [3], "count": 1}
    assert made.ranks == 7
    assert result["left_out"]["missing_ranks"] > 0
    assert (result["verdict"]["rank"], result["verdict"]["cause"]) == (
        5,
        "compute",
    )  # its data-parallel group lacks rank 3
    assert {
        row["believed"] for row in rows(made, "SELECT believed FROM job_groups WHERE ranks IN ('2,3', '1-7/2')")
    } == {0}
    assert {
        row["believed"] for row in rows(made, "SELECT believed FROM job_groups WHERE ranks IN ('4,5', '0-6/2')")
    } == {1}


@pytest.mark.parametrize(
    ("cause", "straggler", "missing", "groups"),
    [
        ("host", 2, 4, False),
        (None, None, 4, False),
        ("input", 3, 2, True),  # nobody else of its tensor-parallel group is there
        ("input", 3, 2, False),
        ("link", 3, 5, True),  # only a group that lacks a rank tells it from rank 2
        ("link", None, 3, True),  # all that is slow is a group of which ranks are missing
    ],
)
def test_ranks_present_are_judged_where_others_are_missing(
    cause: str | None, straggler: int | None, missing: int, groups: bool, tmp_path: Path
) -> None:
    """Also without process groups: those whose ends agree belong together, but for the missing one."""
    slow = missing if cause and straggler is None else straggler
    folder = imported(tmp_path, Plan(straggler=slow, cause=cause or "host", groups=groups, data=3, iterations=3))
    for path in folder.rglob(f"*rank{missing}.*"):
        path.unlink()
    verdict = answer(made_in(folder))["verdict"]
    assert (verdict["rank"], verdict["cause"]) == (straggler, cause if straggler is not None else None)


@pytest.mark.parametrize(
    ("stages", "pipelines", "reduces", "slow", "missing"),
    [
        (3, 4, True, None, 8),  # rank 7 has a send less that is matched: others were released later, and did less since
        (2, 4, False, 5, 4),  # all that the late rank does with others is a send of which the sender is missing
        (2, 4, False, None, 4),
        (3, 1, False, 1, 2),  # what the late rank computes ends with a send to the missing one
        (2, 2, True, 1, 3),  # its only peer is missing
    ],
)
def test_pipelines_that_lack_a_rank_are_judged(
    stages: int, pipelines: int, reduces: bool, slow: int | None, missing: int, tmp_path: Path
) -> None:
    """What is left of a rank's sends is with the missing one; who leaves at once was the last, whoever is missing."""
    folder = imported_pipelines(tmp_path, stages, pipelines, slow, "host", reduces)
    for path in folder.rglob(f"rank{missing}.*"):
        path.unlink()
    verdict = answer(made_in(folder))["verdict"]
    assert (verdict["rank"], verdict["cause"]) == (slow, "host" if slow else None), verdict["sentence"]


def test_a_rank_that_occurs_twice_is_another_capture_or_an_error(tmp_path: Path) -> None:
    """At another time it is a second capture; full sets in folders of their own are captures; else both are named."""
    import shutil

    folder = imported(tmp_path, Plan(tensor=1, data=2, ranks_a_host=2))

    def later(_rank: int, trace: dict[str, Any]) -> dict[str, Any]:
        return trace | {"baseTimeNanoseconds": trace["baseTimeNanoseconds"] + 10**12}

    second = imported(tmp_path / "second", Plan(tensor=1, data=2, ranks_a_host=2), later)
    for path in (second / "host0").glob("*.sqlite"):
        shutil.copy(path, folder / "host0" / f"later_{path.name}")
    made, _ = make_jobs(folder)
    assert [each.ranks for each in made] == [2, 2]
    assert len({each.database for each in made}) == 2

    roles = tmp_path / "roles"
    for role in ("actor", "critic"):
        shutil.copytree(tmp_path / "job", roles / role, ignore=shutil.ignore_patterns("later_*", "*job.sqlite"))
    made, _ = make_jobs(roles)
    assert sorted(each.database.parent.parent.name for each in made) == ["actor", "critic"]

    for path in (folder / "host0").glob("later_*"):
        shutil.copy(folder / "host0" / path.name.removeprefix("later_"), path)
    with pytest.raises(BadRequest, match=r"later_.* both have rank 0 at the same time"):
        make_jobs(folder)

    # One foreign profile in the folder of a host does not make a job of each host.
    hosts = tmp_path / "hosts"
    for rank, path in enumerate(sorted((tmp_path / "job").rglob("*job-rank?.dlprof_rank.sqlite"))[-2:]):
        (hosts / f"host{rank}").mkdir(parents=True)
        shutil.copy(path, hosts / f"host{rank}")
    shutil.copy(next((second / "host0").glob("*rank1.*.sqlite")), hosts / "host0" / "foreign.dlprof_rank.sqlite")
    made, _ = make_jobs(hosts)
    assert [each.ranks for each in made] == [2, 1]


def test_a_job_is_made_again_only_when_a_rank_has_changed(tmp_path: Path) -> None:
    """It can be run again and again as ranks arrive; a broken database does not stop the others."""
    folder = imported(tmp_path, Plan(tensor=1, data=3))
    away = sorted(folder.rglob("*rank2.dlprof_rank.sqlite"))[0]
    remaining = away.read_bytes()
    away.unlink()

    def made() -> Made:
        (result,), _ = make_jobs(folder)
        return result

    assert made().ranks == 2
    assert not made().is_new
    away.write_bytes(remaining[:5_000])
    (result,), unusable = make_jobs(folder)
    assert result.ranks == 2
    assert len(unusable) == 1
    assert "rank2" in unusable[0]
    away.write_bytes(remaining)
    assert made().is_new
    assert made().ranks == 3
    for path in folder.rglob("*.dlprof_rank.sqlite"):
        path.write_bytes(remaining[:5_000])
    with pytest.raises(NotFound, match=r"none of the profiles .* can be used\. .* is left out"):
        make_jobs(folder)


def test_a_job_of_the_first_ranks_is_gone_once_the_others_are_there(tmp_path: Path) -> None:
    """Its database lies in the folder of the first host, where its pages would look for a job; jobs of others stay."""
    folder = imported(tmp_path, Plan(iterations=1))
    away = [(path, path.read_bytes()) for path in (folder / "host1").glob("*.sqlite")]
    for path, _ in away:
        path.unlink()
    first = made_in(folder)
    assert (first.ranks, first.database.parent) == (4, folder / "host0")
    assert all((folder / "host0" / row["database"]).is_file() for row in rows(first, "SELECT database FROM job_ranks"))
    for path, content in away:
        path.write_bytes(content)
    other = imported(tmp_path / "other", Plan(tensor=1, data=2, iterations=1))
    remaining = made_in(other).database.rename(folder / "host1" / "other.dlprof_job.sqlite")
    whole = made_in(folder)
    assert sorted(folder.rglob("*.dlprof_job.sqlite")) == sorted([whole.database, remaining])


def test_a_rank_whose_groups_all_lack_one_is_not_told_that_it_waits_for_none(tmp_path: Path) -> None:
    """How much of its exposed communication is a wait stays unknown."""
    folder = imported(tmp_path, Plan(tensor=1, data=3, straggler=2, iterations=3))
    for path in folder.rglob("*rank2.*"):
        path.unlink()
    hide = {"rule": COMMUNICATION, "title": "Long.", "action": "Hide it.", "time_ns": 9, "gain": None}
    typical = {"start": 0, "stop": 2, "left_out": []}
    diagnosis = {
        **{"typical": typical, "mean": {"selected": [0, 1, 2], "wall_ns": 90}, "marked": True},
        **{"iterations": [{}] * 3, "findings": [hide]},
    }
    with opened_job(made_in(folder).database) as con:
        assert with_known_waits(con, 0, diagnosis)["findings"] == [hide]
