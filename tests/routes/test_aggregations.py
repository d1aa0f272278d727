"""Aggregating anew over HTTP, through the real worker process."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.holding import Held, hold_workers
from tests.imports.traces import write_trace
from tests.queries.profiles import ignore
from tests.routes.serving import OURS, Server
from tests.shared_data import shared_data
from tests.waiting import wait_for

DATABASE = "made.dlprof_dldb.sqlite"
SOURCE = "rank0.pt.trace.json"
posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


class Viewer:
    """One who looks at a profile of a server."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.profile = str(server.profile(name)["id"])

    def post(self, path: str, **body: Any) -> Any:
        """What our page sends."""
        return self.server.client.post(path, json={"profile": self.profile, **body}, headers=OURS)

    def jobs(self) -> list[dict[str, Any]]:
        """As the server lists them."""
        response: list[dict[str, Any]] = self.server.get(f"/aggregation_jobs?profile={self.profile}").json["jobs"]
        return response

    def ended(self, answer: Any) -> dict[str, Any]:
        """The job of an answer, once it has ended."""
        assert answer.status_code == 200, answer.text
        name = answer.json["job"]["id"]
        return dict(
            wait_for(lambda: next((job for job in self.jobs() if job["id"] == name and job["finished_at"]), None))
        )

    def dashboard(self, aggregation: int = 1) -> Any:
        """All of it."""
        return self.server.get(f"/dashboard?profile={self.profile}&aggregation={aggregation}").json

    def aggregations(self) -> list[int]:
        """Ids in the menu."""
        return [aggregation["id"] for aggregation in self.dashboard()["aggregations"]]


@pytest.fixture
def viewer(server: Server) -> Viewer:
    """Looks at the database of three steps."""
    return Viewer(server, DATABASE)


def test_other_iterations(viewer: Viewer, logdir: Path) -> None:
    """The new aggregation is in the menu and counts its iterations alone; the file is as it was."""
    file = logdir / "run" / "a" / DATABASE
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    job = viewer.ended(viewer.post("/aggregate", iter_start=1, iter_stop=2))
    assert (job["state"], job["aggregation"], job["message"]) == ("done", 2, "")
    assert viewer.aggregations() == [1, 2]
    assert viewer.dashboard(2)["kernel_time"]["total"]["launches"] == 4
    assert viewer.dashboard(2)["performance"]["profiled_iterations"] == 2
    assert viewer.dashboard(1)["kernel_time"]["total"]["launches"] == 6
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_another_key_op(viewer: Viewer) -> None:
    """By the id that the table of ops gives, which is how the menu calls it, and what finds the same again: another
    op has its name."""
    job = viewer.ended(viewer.post("/aggregate", key_op="ADD_2"))
    result = next(each for each in viewer.dashboard()["aggregations"] if each["id"] == job["aggregation"])
    assert (result["key_node"], result["label"]) == ("ADD_2", "ADD_2")
    assert viewer.ended(viewer.post("/aggregate", key_op=result["key_node"]))["aggregation"] == job["aggregation"]


def test_another_candidate(viewer: Viewer) -> None:
    """One of those that the dashboard offers."""
    kinds = [each["kind"] for each in viewer.dashboard()["iterations"]["source"]["candidates"]]
    assert "whole_capture" in kinds
    job = viewer.ended(viewer.post("/aggregate", candidate="whole_capture"))
    assert viewer.dashboard(job["aggregation"])["performance"]["total_iterations"] == 1


def test_the_same_choice_again_is_the_same_aggregation(viewer: Viewer) -> None:
    """Nothing is added; an equal one from the beginning counts too."""
    assert viewer.ended(viewer.post("/aggregate", iter_start=1))["aggregation"] == 2
    assert viewer.ended(viewer.post("/aggregate", iter_start=1, iter_stop=2))["aggregation"] == 2
    assert viewer.ended(viewer.post("/aggregate"))["aggregation"] == 1
    assert viewer.aggregations() == [1, 2]


def test_a_source_that_the_server_imported(server: Server) -> None:
    """Its database is the server's own and holds all aggregations."""
    server.change("/import", server.profile(SOURCE)["id"])
    server.wait_for_state(SOURCE, "ready")
    viewer = Viewer(server, SOURCE)
    assert viewer.ended(viewer.post("/aggregate", iter_stop=1))["aggregation"] == 2
    assert viewer.aggregations() == [1, 2]
    assert len(list(server.services.imports.cache.folder.glob("*.sqlite"))) == 1


def test_nvidias_database(tmp_path: Path) -> None:
    """It is copied, never changed; its own aggregation keeps DLProf's numbers."""
    golden = shared_data() / "dlprof-golden" / "dlprof_dldb.sqlite"
    (tmp_path / "logs").mkdir()
    shutil.copyfile(golden, tmp_path / "logs" / golden.name)
    server = Server(tmp_path / "logs", tmp_path / "cache")
    viewer = Viewer(server, golden.name)
    before = viewer.dashboard()
    job = viewer.ended(viewer.post("/aggregate", key_op="CONV2D_1", iter_stop=0))
    after = viewer.dashboard()
    added = after.pop("aggregations")
    assert before.pop("aggregations") == added[:1]
    assert after == before
    assert job["aggregation"] == added[1]["id"] == 2
    assert (tmp_path / "logs" / golden.name).read_bytes() == golden.read_bytes()
    server.app.close()


def test_several_viewers(viewer: Viewer, logdir: Path, tmp_path: Path) -> None:
    """Another tab and another server with the same cache see the same; what they look at stays."""
    other = Viewer(Server(logdir, tmp_path / "cache"), DATABASE)
    page = f"/table?profile={other.profile}&table=ops&aggregation=1"
    before = other.server.get(page).json
    viewer.ended(viewer.post("/aggregate", iter_start=2))
    assert other.aggregations() == [1, 2]
    assert other.server.get(page).json == before
    other.ended(other.post("/aggregate", iter_start=1, iter_stop=1))
    assert viewer.aggregations() == [1, 2, 3]
    assert [job["aggregation"] for job in Viewer(viewer.server, DATABASE).jobs()] == [2]
    other.server.app.close()


def test_one_can_be_deleted_but_not_the_first(viewer: Viewer) -> None:
    """Its id is never used again, so that an old link does not show something else."""
    viewer.ended(viewer.post("/aggregate", iter_start=1))
    viewer.ended(viewer.post("/aggregate", iter_start=2))
    assert viewer.ended(viewer.post("/delete_aggregation", aggregation=3))["state"] == "done"
    assert viewer.aggregations() == [1, 2]
    gone = viewer.server.get(f"/dashboard?profile={viewer.profile}&aggregation=3")
    assert (gone.status_code, gone.json["error"]["code"]) == (404, "not_found")
    assert viewer.ended(viewer.post("/aggregate", iter_stop=0))["aggregation"] == 4
    assert viewer.post("/delete_aggregation", aggregation=1).status_code == 400
    assert viewer.post("/delete_aggregation", aggregation=3).status_code == 404
    assert viewer.post("/delete_aggregation").status_code == 400


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"iter_start": 7, "iter_stop": 9}, "0 to 2"),
        ({"key_op": "NOTHING_1"}, "NOTHING_1"),
        ({"candidate": "nothing"}, "profiler_step"),
    ],
)
def test_a_choice_that_does_not_fit_says_why(viewer: Viewer, body: dict[str, Any], words: str) -> None:
    """The job has failed; nothing else changes."""
    job = viewer.ended(viewer.post("/aggregate", **body))
    assert (job["state"], job["aggregation"]) == ("failed", None)
    assert words in job["message"]
    assert viewer.aggregations() == [1]


@pytest.mark.parametrize(
    "body",
    [
        {"iter_start": 2, "iter_stop": 1},
        {"iter_start": "1"},
        {"iter_start": 1.5},
        {"iter_start": True},
        {"iter_start": 10**18},
        {"key_op": "a", "candidate": "b"},
        {"key_op": 5},
        {"key_op": "x" * 2_001},
        {"candidate": "a\0"},
    ],
)
def test_wrong_bodies(viewer: Viewer, body: dict[str, Any]) -> None:
    """Refused at once."""
    answer = viewer.post("/aggregate", **body)
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "bad_parameter")
    assert viewer.jobs() == []


@pytest.mark.parametrize("path", ["/aggregate", "/delete_aggregation", "/cancel_aggregation"])
def test_only_our_own_page_may(viewer: Viewer, path: str) -> None:
    """As for imports."""
    client, body = viewer.server.client, {"profile": viewer.profile}
    assert viewer.server.get(path).status_code == 405
    assert client.post(path, json=body).status_code == 403
    assert client.post(path, data="{}", content_type="text/plain", headers=OURS).status_code == 403
    assert client.post(path, json=body, headers={**OURS, "Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_it_can_be_switched_off(logdir: Path, tmp_path: Path) -> None:
    """For shared servers; the list says so."""
    viewer = Viewer(Server(logdir, tmp_path / "cache", reaggregate_mode="off"), DATABASE)
    answer = viewer.post("/aggregate", iter_start=1)
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "forbidden")
    assert viewer.post("/delete_aggregation", aggregation=2).status_code == 403
    assert viewer.server.get("/profiles").json["reaggregate_mode"] == "off"


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Holds the workers in the middle of their work."""
    return hold_workers(monkeypatch, tmp_path / "held")


@pytest.fixture
def slow(made_database: Path, held: Held, tmp_path: Path) -> Iterator[Viewer]:
    """Looks at a profile whose aggregation stands still."""
    (tmp_path / "slow").mkdir()
    shutil.copyfile(made_database, tmp_path / "slow" / DATABASE)
    server = Server(tmp_path / "slow", tmp_path / "cache")
    yield Viewer(server, DATABASE)
    held.release()
    server.app.close()


def running(viewer: Viewer, held: Held) -> int:
    """Process id of the worker, once it stands still."""
    held.wait()
    children = [job.child for job in viewer.server.services.aggregations.jobs(viewer.profile) if job.child is not None]
    return children[0].process_id


def test_progress_is_seen_by_all_and_nothing_is_disturbed(slow: Viewer, held: Held) -> None:
    """Asking twice gives one job; the pages answer meanwhile; a reload of the page finds the job again."""
    first = slow.post("/aggregate", iter_start=1).json["job"]
    assert slow.post("/aggregate", iter_start=1).json["job"]["id"] == first["id"]
    running(slow, held)
    (job,) = Viewer(slow.server, slow.server.profiles()[0]["name"]).jobs()
    assert (job["state"], set(job["progress"])) == ("running", {"stage", "fraction", "elapsed_s"})
    assert slow.aggregations() == [1]
    slow.post("/cancel_aggregation", job=first["id"])


def test_a_database_that_goes_while_it_is_aggregated(slow: Viewer, held: Held, tmp_path: Path) -> None:
    """Such as one that a full cache lets go: the sentence says so, however far the worker had come."""
    answer = slow.post("/aggregate", iter_start=1)
    held.wait()
    next((tmp_path / "slow").iterdir()).unlink()
    held.release()
    wait_for(lambda: slow.server.services.aggregations.jobs(slow.profile)[0].finished_at)
    (job,) = slow.server.services.aggregations.jobs(slow.profile)
    assert (job.job_id, job.state) == (answer.json["job"]["id"], "failed")
    assert job.message == "The database of this profile is gone; reload the list of profiles."


def test_cancelling(slow: Viewer, held: Held, tmp_path: Path) -> None:
    """Ends the process and leaves nothing; what waits never starts."""
    first, second = (slow.post("/aggregate", iter_start=number) for number in (1, 2))
    running(slow, held)
    for answer in (second, first):
        slow.post("/cancel_aggregation", job=answer.json["job"]["id"])
        assert slow.ended(answer)["state"] == "cancelled"
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.suffix == ".sqlite"] == []
    assert slow.aggregations() == [1]
    assert slow.post("/cancel_aggregation", job="nothing").status_code == 404


@posix
def test_a_process_that_is_killed_has_failed(slow: Viewer, held: Held) -> None:
    """With a sentence, and nothing half-made."""
    answer = slow.post("/aggregate", iter_start=1)
    os.kill(running(slow, held), signal.SIGKILL)
    job = slow.ended(answer)
    assert (job["state"], job["aggregation"]) == ("failed", None)
    assert "memory" in job["message"]
    assert slow.aggregations() == [1]


def test_the_copy_is_for_one_version_of_the_file(viewer: Viewer, logdir: Path) -> None:
    """Where the profile's file is replaced, its aggregations are those of the new file."""
    viewer.ended(viewer.post("/aggregate", iter_start=1))
    folder = logdir.parent / "new"
    source = write_trace(folder / "made.json", steps=5)
    import_source(source, folder / "new.sqlite", ImportOptions(), ignore)
    (folder / "new.sqlite").replace(logdir / "run" / "a" / DATABASE)
    viewer.server.rescan()
    viewer.server.profiles()
    assert viewer.aggregations() == [1]
    assert viewer.dashboard()["performance"]["total_iterations"] == 5
