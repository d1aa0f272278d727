"""Ranks that are compared on the page: over HTTP, of log directories in which nobody made a job."""

from __future__ import annotations

import gzip
from pathlib import Path
from shutil import copy

import pytest

from tensorboard_plugin_dlprof.metadata import JOB_SUFFIX
from tensorboard_plugin_dlprof.ranks.job_step import make_jobs
from tensorboard_plugin_dlprof.routes import jobs
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tests.ranks.jobs import import_into
from tests.routes.serving import Server
from tests.shared_data import shared_data
from tests.waiting import wait_for

PLAN = Plan(tensor=2, data=2, straggler=1, ranks_a_host=2)


def opened(server: Server, name: str) -> str:
    """The id of the profile of this file name, once it is imported."""
    profile = server.profile(name)["id"]
    assert server.change("/import", profile).status_code == 200
    server.wait_for_state(name, "ready")
    return str(profile)


def compared(server: Server, profile: str) -> dict[str, object]:
    """The answer of ``./job`` once the ranks were compared."""
    assert server.change("/compare_ranks", profile).status_code == 200
    wait_for(lambda: (server.get(f"/job?profile={profile}").json["offer"] or {"state": "done"})["state"] == "done")
    result: dict[str, object] = server.get(f"/job?profile={profile}").json
    return result


def knows_waits(server: Server, profile: str) -> bool:
    """Whether the diagnosis of a rank says how much of its exposed communication waits for others."""
    findings = server.get(f"/diagnosis?profile={profile}").json["findings"]
    (title,) = (each["title"] for each in findings if each["rule"] == "communication_detector")
    return "is a wait for other ranks" in title


def test_ranks_of_two_hosts_become_a_job(tmp_path: Path) -> None:
    """As if the command had made it; then it stands on the pages of each rank, until a file changes."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, logs / "run")
    server = Server(logs, tmp_path / "cache")
    profile = opened(server, traces[3].name)
    answer = server.get(f"/job?profile={profile}").json
    assert answer["job"] is None
    offer = answer["offer"]
    size = sum(path.stat().st_size for path in traces)
    assert (offer["run"], offer["files"], offer["size_bytes"]) == ("run", 4, size)
    assert (offer["is_possible"], offer["is_quick"], offer["state"]) == (True, True, "offered")
    assert not knows_waits(server, profile)
    job = compared(server, profile)["job"]
    assert knows_waits(server, profile)
    import_into(tmp_path / "by-command" / "run", traces, logs / "run")
    (made,), _ = make_jobs(tmp_path / "by-command" / "run")
    assert (job["job"], job["rank"], job["verdict"]["sentence"]) == ("run", 3, made.sentence)
    assert [each["run"] for each in job["profiles"]] == ["run/host0", "run/host0", "run/host1", "run/host1"]
    assert not list(logs.joinpath("run").rglob("*.sqlite")), "nothing is written beside the recordings"
    assert server.get(f"/job_rank?profile={profile}").json["job"]["rank"] == 3
    other = opened(server, traces[0].name)
    assert server.get(f"/job?profile={other}").json["job"]["rank"] == 0
    # Another server finds it in the cache.
    another = Server(logs, tmp_path / "cache")
    another.profiles()
    assert another.get(f"/job_rank?profile={profile}").json["job"] is not None
    traces[1].write_bytes(gzip.compress(gzip.decompress(traces[1].read_bytes()) + b"\n"))
    server.rescan()
    server.profiles()
    wait_for(lambda: server.get(f"/job?profile={profile}").json["job"] is None)
    # What was said of the old files does not hold for the new ones.
    assert server.get(f"/job?profile={profile}").json["offer"]["state"] == "offered"
    assert not knows_waits(server, profile)


def test_folders_may_number_the_ranks(tmp_path: Path) -> None:
    """Files of equal names in folders 0, 1, ...; another run beside them is left alone."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, tmp_path / "made")
    for number, trace in enumerate(traces):
        (logs / "run" / str(number)).mkdir(parents=True)
        trace.rename(logs / "run" / str(number) / "trace.json.gz")
    write_job(PLAN, logs / "other")
    server = Server(logs, tmp_path / "cache")
    profile = next(each["id"] for each in server.profiles() if each["run"] == "run/2")
    assert server.change("/import", profile).status_code == 200
    wait_for(lambda: next(each["state"] for each in server.profiles() if each["run"] == "run/2") == "ready")
    assert server.get(f"/job?profile={profile}").json["offer"]["run"] == "run"
    job = compared(server, profile)["job"]
    assert (job["rank"], job["ranks"]["rank"]) == (2, [0, 1, 2, 3])


def test_databases_without_their_sources_are_compared(tmp_path: Path) -> None:
    """They were imported elsewhere, without --job; nothing is written beside them."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, tmp_path / "made")
    import_into(logs / "run", traces, tmp_path / "made")
    server = Server(logs, tmp_path / "cache")
    server.profiles()
    wait_for(lambda: server.profiles()[2]["world_size"] is not None)
    profile = server.profiles()[2]["id"]
    offer = server.get(f"/job?profile={profile}").json["offer"]
    assert (offer["run"], offer["files"], offer["has_sources"]) == ("run", 4, False)
    before = sorted(logs.rglob("*"))
    job = compared(server, profile)["job"]
    assert (job["rank"], job["ranks"]["rank"], job["verdict"]["rank"]) == (2, [0, 1, 2, 3], 1)
    assert sorted(logs.rglob("*")) == before


@pytest.mark.parametrize("sources", [True, False])
def test_large_sources_are_asked_for_and_databases_are_not(sources: bool, tmp_path: Path) -> None:
    """Of these what is compared was read before."""
    logs = tmp_path / "logs"
    traces = write_job(Plan(tensor=2, data=2 if sources else 8), (logs if sources else tmp_path) / "run")
    if sources:
        for each in traces:
            each.with_suffix("").write_bytes(gzip.decompress(each.read_bytes()) + b" " * (3 << 20))
            each.unlink()
    else:
        import_into(logs / "run", traces)
    server = Server(logs, tmp_path / "cache")
    if sources:
        profile = opened(server, traces[0].with_suffix("").name)
    else:
        server.profiles()
        wait_for(lambda: server.profiles()[0]["world_size"] is not None)
        profile = server.profiles()[0]["id"]
    offer = server.get(f"/job?profile={profile}").json["offer"]
    assert offer["size_bytes"] > 8 << 20
    assert offer["is_quick"] != sources


def test_a_rank_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    """The job says which are missing."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, logs / "run")
    server = Server(logs, tmp_path / "cache")
    profile = opened(server, traces[0].name)
    server.profiles()
    traces[2].write_bytes(traces[2].read_bytes()[:-200])
    job = compared(server, profile)["job"]
    assert (job["missing"]["ranks"], job["ranks"]["rank"]) == ([2], [0, 1, 3])


def test_processes_of_one_report_are_compared(tmp_path: Path) -> None:
    """Nsight Systems records all processes of a node into one file: that is a job, too."""
    logs = tmp_path / "logs"
    logs.mkdir()
    copy(shared_data() / "nsight" / "h100_2gpu_torchrun_nccl" / "mfu_2gpu_before.sqlite", logs / "report.sqlite")
    server = Server(logs, tmp_path / "cache")
    profile = opened(server, "report.sqlite")
    offer = server.get(f"/job?profile={profile}").json["offer"]
    assert (offer["files"], offer["processes"]) == (1, 2)
    job = compared(server, profile)["job"]
    assert job["ranks"]["rank"] == [0, 1]
    # All of the page numbers processes from 1.
    assert job["verdict"]["sentence"].startswith("Process 2 of 2")
    assert job["findings"][0]["title"] == "Process 2 delays the others a little"


def test_a_failure_is_told(tmp_path: Path) -> None:
    """Without a path, and another attempt is offered."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, logs / "run")
    profile = opened(Server(logs, tmp_path / "cache"), traces[0].name)
    server = Server(logs, tmp_path / "cache", memory_bytes=1 << 20)
    server.profiles()
    assert server.change("/compare_ranks", profile).status_code == 200
    wait_for(lambda: server.get(f"/job?profile={profile}").json["offer"]["state"] == "failed")
    offer = server.get(f"/job?profile={profile}").json["offer"]
    assert "memory" in offer["message"]
    assert str(tmp_path) not in offer["message"]
    assert offer["is_possible"]


def test_captures_of_one_job_are_told_apart(tmp_path: Path) -> None:
    """Both have all ranks; each profile is shown with its own."""
    logs = tmp_path / "logs"
    first = write_job(PLAN, logs / "first")
    write_job(Plan(tensor=2, data=2, straggler=3, ranks_a_host=2), logs / "second")
    server = Server(logs, tmp_path / "cache")
    profile = opened(server, first[0].name)
    offer = server.get(f"/job?profile={profile}").json["offer"]
    assert offer["files"] == 4
    run = next(each for each in server.profiles() if each["id"] == profile)["run"]
    assert offer["run"] == run.partition("/")[0]
    assert compared(server, profile)["job"]["verdict"]["rank"] == {"first": 1, "second": 3}[offer["run"]]


def test_where_ranks_cannot_be_compared_the_page_offers_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server that does not import, and for a large job; a profile alone offers nothing."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, logs / "run")
    (alone,) = write_job(Plan(tensor=1, data=1, straggler=None), tmp_path / "elsewhere")
    (logs / "alone").mkdir()
    alone = alone.rename(logs / "alone" / "alone.pt.trace.json.gz")
    server = Server(logs, tmp_path / "cache")
    profile, other = opened(server, traces[0].name), server.profile(alone.name)["id"]
    assert server.get(f"/job?profile={other}").json == {"job": None, "offer": None}
    assert server.change("/compare_ranks", other).status_code == 404
    off = Server(logs, tmp_path / "cache", import_mode="off")
    off.profiles()
    assert off.get(f"/job?profile={profile}").json["offer"]["is_possible"] is False
    assert off.change("/compare_ranks", profile).status_code == 403
    monkeypatch.setattr(jobs, "MOST_RANKS", 3)
    assert server.get(f"/job?profile={profile}").json["offer"]["is_possible"] is False
    assert server.change("/compare_ranks", profile).status_code == 403
    assert not list((tmp_path / "cache").glob(f"*{JOB_SUFFIX}"))


def test_a_comparison_can_be_cancelled(tmp_path: Path) -> None:
    """Nothing remains but the offer."""
    logs = tmp_path / "logs"
    traces = write_job(PLAN, logs / "run")
    server = Server(logs, tmp_path / "cache")
    profile = opened(server, traces[0].name)
    with server.services.imports.turn:
        assert server.change("/compare_ranks", profile).json["offer"]["state"] == "queued"
        offer = server.change("/cancel_compare_ranks", profile).json["offer"]
    assert (offer["state"], offer["progress"]) == ("offered", None)
    assert not list((tmp_path / "cache").glob(f"*{JOB_SUFFIX}"))
