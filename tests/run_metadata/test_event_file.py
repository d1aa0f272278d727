"""Event files of ours: written, read back, and served by a real TensorBoard beside a training job's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.run_metadata.dlprof_plugin_pb2 import Headline, ProfileMetadata
from tensorboard_plugin_dlprof.run_metadata.event_file import (
    ScalarSeries,
    find_event_files,
    write_event_file,
)
from tests.run_metadata.reading import read_event_file, read_events
from tests.waiting import PATIENCE_S, wait_for


def profile(name: str = "trace.dlprof_dldb.sqlite") -> ProfileMetadata:
    """Metadata of a profile of which the utilisation is not known."""
    return ProfileMetadata(
        schema_version=1,
        database_name=name,
        rank=0,
        gpu_names=["NVIDIA H200"],
        headline=Headline(wall_time_ns=5_000_000, iterations=5),
    )


def test_what_is_written_is_read_back_and_unknown_stays_unknown(tmp_path: Path) -> None:
    """Rank 0 is not the same as no rank; a utilisation that is not known is not 0."""
    path = write_event_file(tmp_path, profile())
    read = read_event_file(path)
    assert read is not None
    assert read == profile()
    assert read.HasField("rank")
    assert not read.HasField("world_size")
    assert not read.headline.HasField("gpu_utilization_fraction")


def test_two_profiles_of_one_run_have_a_file_each_and_nothing_else_is_left(tmp_path: Path) -> None:
    """Importing a second rank, or one rank again, leaves the files of the others alone."""
    names = ["rank0.dlprof_dldb.sqlite", "rank1.dlprof_dldb.sqlite"]
    for name in [*names, names[0]]:
        write_event_file(tmp_path, profile(name))
    files = find_event_files(tmp_path)
    assert [metadata.database_name for file in files if (metadata := read_event_file(file))] == names
    assert sorted(tmp_path.iterdir()) == files


def test_a_folder_that_cannot_be_listed_has_no_event_files(tmp_path: Path) -> None:
    """Whoever writes into it says what is wrong with it."""
    assert find_event_files(tmp_path / "missing") == []


def test_a_cut_event_file_gives_what_is_whole(tmp_path: Path) -> None:
    """The metadata comes before the scalars, and a cut in these does not lose it."""
    points = [(step, 1.5) for step in range(10)]
    path = write_event_file(tmp_path, profile(), [ScalarSeries("dlprof/iteration_time_ms", "", points)])
    path.write_bytes(path.read_bytes()[:-5])
    assert read_event_file(path) == profile()
    assert len(list(read_events(path))) == 11


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    """One sentence, not a traceback."""
    (tmp_path / "run").write_text("a file, not a folder")
    with pytest.raises(OutputNotWritable, match=r"run.*cannot be written"):
        write_event_file(tmp_path / "run", profile())


def log(job: IO[bytes], event: Event) -> None:
    """Appends an event, as TensorBoard's writers do."""
    RecordWriter(job).write(event.SerializeToString())
    job.flush()


def log_loss(job: IO[bytes], step: int) -> None:
    """One point of a training job's loss."""
    summary = Summary(value=[Summary.Value(tag="loss", simple_value=1.0 / (step + 1))])
    log(job, Event(wall_time=time.time(), step=step, summary=summary))


Fetch = Callable[[str], Any]


@contextmanager
def tensorboard(logdir: Path, load_fast: str, errors: Path) -> Iterator[Fetch]:
    """A real TensorBoard; yields a function that gets JSON from it."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", "0", "--host", "localhost"]
    with errors.open("wb") as stderr:
        server = subprocess.Popen(
            [*command, "--load_fast", load_fast, "--reload_interval", "1"], stdout=subprocess.DEVNULL, stderr=stderr
        )
    try:
        url = wait_for(lambda: re.search(r"http://localhost:\d+/", errors.read_text(errors="replace")))

        def fetch(path: str) -> Any:
            with urllib.request.urlopen(url.group() + path, timeout=PATIENCE_S) as answer:
                return json.load(answer)

        yield fetch
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


@pytest.mark.parametrize("load_fast", ["true", "false"])
def test_tensorboard_shows_our_scalars_and_those_of_the_job_go_on(tmp_path: Path, load_fast: str) -> None:
    """A profile imported in the middle of a job does not freeze its loss; a server started later shows both."""
    run = tmp_path / "logs" / "run"
    run.mkdir(parents=True)

    def steps(fetch: Fetch, tag: str) -> list[int]:
        query = urllib.parse.urlencode({"run": "run", "tag": tag})
        return [step for _, step, _ in fetch(f"data/plugin/scalars/scalars?{query}")]

    with (run / f"events.out.tfevents.{int(time.time())}.host.1.0").open("wb") as job:
        log(job, Event(wall_time=time.time(), file_version="brain.Event:2"))
        log_loss(job, 0)
        with tensorboard(tmp_path / "logs", load_fast, tmp_path / "first.txt") as fetch:
            wait_for(lambda: "run" in fetch("data/plugin/scalars/tags"))
            assert steps(fetch, "loss") == [0]
            series = ScalarSeries("dlprof/iteration_time_ms", "Duration of an iteration", [(100, 1.5), (101, 1.25)])
            write_event_file(run, profile(), [series])
            log_loss(job, 1)
            wait_for(lambda: steps(fetch, "loss") == [0, 1])

        with tensorboard(tmp_path / "logs", load_fast, tmp_path / "second.txt") as fetch:
            wait_for(lambda: len(fetch("data/plugin/scalars/tags").get("run", {})) == 2)
            assert steps(fetch, "dlprof/iteration_time_ms") == [100, 101]
            log_loss(job, 2)
            wait_for(lambda: steps(fetch, "loss") == [0, 1, 2])
            assert steps(fetch, "dlprof/iteration_time_ms") == [100, 101]


@pytest.mark.parametrize("mode", ["fast", "slow"])
def test_the_data_provider_lists_the_metadata(tmp_path: Path, mode: str) -> None:
    """What a plugin of TensorBoard's gets to see from its fast and from its slow reader, one tag per profile."""
    run = tmp_path / "run"
    run.mkdir()
    names = ["a.dlprof_dldb.sqlite", "b.dlprof_dldb.sqlite"]
    for name in names:
        write_event_file(run, profile(name))
    command = [sys.executable, str(Path(__file__).with_name("list_metadata.py")), str(tmp_path), mode]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S).stdout)
    contents = {tag: ProfileMetadata.FromString(bytes.fromhex(content)) for tag, content in listed["run"].items()}
    assert contents == {f"dlprof/{name}": profile(name) for name in names}
