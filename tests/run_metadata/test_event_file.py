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

import msgspec
import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_TENSOR, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.summary.writer.record_writer import RecordWriter

from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.run_metadata import dlprof_plugin_pb2
from tensorboard_plugin_dlprof.run_metadata.event_file import (
    ScalarSeries,
    find_event_files,
    write_event_file,
)
from tensorboard_plugin_dlprof.run_metadata.profile_metadata import Headline, ProfileMetadata
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


def message_of(metadata: ProfileMetadata) -> dlprof_plugin_pb2.ProfileMetadata:
    """The same as Google's library has it."""
    fields = msgspec.structs.asdict(metadata)
    headline = dlprof_plugin_pb2.Headline(**msgspec.structs.asdict(fields.pop("headline")))
    return dlprof_plugin_pb2.ProfileMetadata(**fields, headline=headline)


EVERYTHING = ProfileMetadata(
    schema_version=1,
    database_name="Größe.dlprof_dldb.sqlite",
    source_name="a" * 20_000,
    source_fingerprint="b" * 128,
    source_format="pytorch",
    rank=-1,
    world_size=(1 << 31) - 1,
    gpu_names=["NVIDIA H200", "", "NVIDIA H200"],
    profile_name="c",
    captured_at_ns=(1 << 63) - 1,
    headline=Headline(
        wall_time_ns=127,
        iterations=128,
        average_iteration_ns=7,
        gpu_utilization_fraction=0.0,
        tensor_core_time_fraction=1e-300,
        tensor_core_efficiency_fraction=0.1,
    ),
)


@pytest.mark.parametrize(
    "metadata", [EVERYTHING, profile(), ProfileMetadata(schema_version=1, database_name="a", headline=Headline())]
)
def test_the_metadata_is_written_as_google_s_library_writes_it(metadata: ProfileMetadata) -> None:
    """Byte by byte, with every field that it declares, and with as few as there may be."""
    assert metadata.serialized() == message_of(metadata).SerializeToString()
    declared = [field.name for field in dlprof_plugin_pb2.ProfileMetadata.DESCRIPTOR.fields]
    assert list(ProfileMetadata.__struct_fields__) == declared
    assert list(Headline.__struct_fields__) == [field.name for field in dlprof_plugin_pb2.Headline.DESCRIPTOR.fields]


def test_a_text_that_is_no_unicode_is_written_readable() -> None:
    """File names may hold bytes that are no UTF-8."""
    written = ProfileMetadata(schema_version=1, database_name="a\udcffb").serialized()
    assert dlprof_plugin_pb2.ProfileMetadata.FromString(written).database_name == "a?b"


def test_the_events_are_written_as_google_s_library_writes_them(tmp_path: Path) -> None:
    """Byte by byte: TensorBoard's fast reader is another program, which reads all fields."""
    path = write_event_file(tmp_path, EVERYTHING)
    first, second = map(Event.FromString, RawEventFileLoader(str(path)).Load())
    assert first == Event(
        wall_time=first.wall_time,
        file_version="brain.Event:2",
        source_metadata=SourceMetadata(writer="tensorboard_plugin_dlprof"),
    )
    name = EVERYTHING.database_name
    value = TensorProto(dtype=DT_STRING, tensor_shape=TensorShapeProto(), string_val=[name.encode()])
    plugin_data = SummaryMetadata.PluginData(plugin_name="dlprof", content=message_of(EVERYTHING).SerializeToString())
    about = SummaryMetadata(plugin_data=plugin_data, data_class=DATA_CLASS_TENSOR)
    summary = Summary(value=[Summary.Value(tag=f"dlprof/{name}", tensor=value, metadata=about)])
    assert second == Event(wall_time=first.wall_time, summary=summary)
    assert [event.SerializeToString() for event in (first, second)] == list(RawEventFileLoader(str(path)).Load())


def test_what_is_written_is_read_back_and_unknown_stays_unknown(tmp_path: Path) -> None:
    """Rank 0 is not the same as no rank; a utilisation that is not known is not 0."""
    path = write_event_file(tmp_path, profile())
    read = read_event_file(path)
    assert read is not None
    assert read == message_of(profile())
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
    assert read_event_file(path) == message_of(profile())
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
    contents = {tag: bytes.fromhex(content) for tag, content in listed["run"].items()}
    assert contents == {f"dlprof/{name}": profile(name).serialized() for name in names}
