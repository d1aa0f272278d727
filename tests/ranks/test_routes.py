"""What the page GPUs and Ranks asks: over HTTP, of a log directory with a job."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tensorboard_plugin_dlprof.api.job import open_job
from tensorboard_plugin_dlprof.database.naming import database_of
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.ranks.job_step import make_jobs
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tests.ranks.jobs import import_into, made_in
from tests.routes.serving import Server
from tests.shared_data import shared_data


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for profiles."""
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def server(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server for a job of four ranks in two folders, and a profile without a job."""
    write_job(Plan(tensor=2, data=2, straggler=1, ranks_a_host=2), logs / "run")
    import_into(logs / "run", sorted((logs / "run").rglob("*.gz")), logs / "run")
    made_in(logs / "run")
    (logs / "run" / "host0" / "generated-job-rank0.pt.trace.json.gz").unlink()
    (alone,) = write_job(Plan(tensor=1, data=1, straggler=None), logs / "alone")
    import_into(logs / "alone", [alone])
    alone.unlink()
    return Server(logs, tmp_path_factory.mktemp("cache"))


def _values(cells: dict[str, Any]) -> npt.NDArray[np.uint32]:
    return np.frombuffer(base64.b64decode(cells["cells"]), "<u4").reshape(cells["rows"], cells["columns"])


def test_the_page_of_a_job(server: Server) -> None:
    """Every rank finds its job and the profiles of the others, also of databases alone; then heat map and members."""
    profile = server.profile("generated-job-rank3.pt.trace.json.gz")["id"]
    job = server.get(f"/job?profile={profile}").json["job"]
    assert (job["rank"], job["verdict"]["rank"], job["ranks"]["rank"]) == (3, 1, [0, 1, 2, 3])
    assert [each["run"] for each in job["profiles"]] == ["run/host0", "run/host0", "run/host1", "run/host1"]
    times = job["ranks"]
    for name, measure in (
        ("window_ns", "duration"),
        ("exposed_wait_ns", "exposed_wait"),
        ("own_delay_ns", "own_delay"),
    ):
        of_all = _values(server.get(f"/job_cells?profile={profile}&measure={measure}").json)
        assert times[name] == of_all.sum(1).tolist(), "the bars are of the same iterations as the heat map"
        assert times["iterations"] == [of_all.shape[1]] * 4
        if measure == "exposed_wait":
            assert job["exposed_by_iteration"]["exposed_wait_ns"] == of_all[3].tolist()
    parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
    assert [sum(each) for each in zip(*(times[name] for name in parts), strict=True)] == times["window_ns"]
    cells = server.get(f"/job_cells?profile={profile}&measure=own_delay").json
    result = _values(cells)
    assert result.sum(1).argmax() == 1
    assert cells["first"] == 0
    numbers = job["iterations_by_number"]["iteration"]
    zoomed = server.get(f"/job_cells?profile={profile}&measure=own_delay&from={numbers[1]}&to={numbers[2]}").json
    assert (zoomed["first"], zoomed["columns"]) == (1, 2)
    part = np.frombuffer(base64.b64decode(zoomed["cells"]), "<u4").reshape(4, 2)
    np.testing.assert_array_equal(part, result[:, 1:3])
    beyond = server.get(f"/job_cells?profile={profile}&measure=own_delay&from={numbers[-1] + 1}").json
    assert beyond == cells, "a link to iterations that the job lacks shows all"
    stats = next(each for each in job["collectives"] if each["id"] == job["delayed_at"])
    delays = {
        row["id"]: sum(
            each["own_delay_ns"]
            for each in server.get(f"/job_collectives?profile={profile}&stats={row['id']}&rank=1&limit=1000").json[
                "collectives"
            ]
            if each["iteration"] is not None
        )
        for row in job["collectives"]
    }
    assert delays[stats["id"]] == max(delays.values()) > 0
    (first, *_) = server.get(f"/job_collectives?profile={profile}&stats={stats['id']}").json["collectives"]
    assert (first["kind"], first["bytes"]) == (stats["kind"], stats["bytes"])
    one = server.get(f"/job_collective?profile={profile}&id={first['id']}").json["collective"]
    assert sum(member["wait_ns"] for member in one["members"]) == first["wait_ns"]
    response = server.get(f"/job_rank?profile={profile}").json["job"]
    assert response["world_size"] == 4
    ranks = server.get(f"/job?profile={profile}").json["job"]["ranks"]
    row = ranks["rank"].index(response["rank"])
    wait, exposed = ranks["exposed_wait_ns"][row], ranks["exposed_communication_ns"][row]
    assert response["communication_wait_fraction"] == wait / exposed, "of the same iterations as on the page of the job"


def test_what_is_not_there(server: Server) -> None:
    """A profile without a job has none; wrong measures and numbers are refused in a sentence."""
    alone = next(each["id"] for each in server.profiles() if each["run"] == "alone")
    assert server.get(f"/job?profile={alone}").json == {"job": None, "offer": None}
    profile = server.profile("generated-job-rank3.pt.trace.json.gz")["id"]
    assert server.get(f"/job_cells?profile={profile}&measure=luck").status_code == 400
    assert server.get(f"/job_collective?profile={profile}&id=999999").status_code == 404


def test_a_job_of_another_version_is_compared_anew(server: Server, logs: Path) -> None:
    """By the page, as if nobody had compared it; the Python API refuses it, ``dlprof job`` replaces it."""
    profile = server.profile("generated-job-rank3.pt.trace.json.gz")["id"]
    (database,) = logs.rglob("*_job.sqlite")
    with closing(sqlite3.connect(database)) as con, con:
        con.execute("UPDATE job_info SET value = '4' WHERE key = 'job_version'")
    answer = server.get(f"/job?profile={profile}").json
    assert answer["job"] is None
    assert (answer["offer"]["files"], answer["offer"]["is_quick"], answer["offer"]["is_possible"]) == (4, True, True)
    assert server.get(f"/job_rank?profile={profile}").json == {"job": None}
    with pytest.raises(ProfileError, match=r"run\.dlprof_job\.sqlite was made by another version"):
        open_job(database)
    (made,), _ = make_jobs(logs / "run")
    assert made.is_new
    assert server.get(f"/job?profile={profile}").json["job"]["rank"] == 3


def test_a_damaged_job_is_refused(server: Server, logs: Path) -> None:
    """A sentence that names it and says what to do, and no page half empty; ``dlprof job`` replaces it."""
    profile = server.profile("generated-job-rank3.pt.trace.json.gz")["id"]
    (database,) = logs.rglob("*_job.sqlite")
    for change in ("DROP TABLE job_pairs", "UPDATE job_info SET value = '{}' WHERE key = 'answer'"):
        with closing(sqlite3.connect(database)) as con, con:
            con.execute(change)
        for route in ("job", "job_rank"):
            response = server.get(f"/{route}?profile={profile}")
            assert (response.status_code, response.json["error"]["code"]) == (422, "not_a_database"), change
            message = response.json["error"]["message"]
            assert "run.dlprof_job.sqlite is damaged; make it again with dlprof job." in message
        with pytest.raises(ProfileError, match=database.name):
            open_job(database)
        (made,), _ = make_jobs(logs / "run")
        assert made.is_new, change
        assert server.get(f"/job?profile={profile}").status_code == 200
    with closing(sqlite3.connect(database)) as con, con:
        con.execute("UPDATE job_ranks SET idle_ns = 'much' WHERE rank = 3")
    for route in ("job", "job_rank"):
        assert server.get(f"/{route}?profile={profile}").status_code == 422
    with pytest.raises(ProfileError, match=database.name):
        open_job(database).ranks()


def test_hosts_of_one_xplane_session_find_their_job(tmp_path: Path) -> None:
    """Their databases lie in the folder of the run, not beside the files, which are in folders of their own."""
    (recorded,) = (shared_data() / "xplane" / "mi300x_jax_attention").glob("*.xplane.pb")
    session = tmp_path / "logs" / "run" / "plugins" / "profile" / "2026_01_01"
    session.mkdir(parents=True)
    sources = [session / f"host{number}.xplane.pb" for number in range(2)]
    for source in sources:
        source.write_bytes(recorded.read_bytes())
        import_source(source, database_of(source), ImportOptions(), lambda _stage, _fraction: None)
    made_in(tmp_path / "logs" / "run")
    server = Server(tmp_path / "logs", tmp_path / "cache")
    job = server.get(f"/job?profile={server.profile('2026_01_01/host1.xplane.pb')['id']}").json["job"]
    assert (job["rank"], [each["name"] for each in job["profiles"]]) == (
        1,
        ["2026_01_01/host0.xplane.pb", "2026_01_01/host1.xplane.pb"],
    )
