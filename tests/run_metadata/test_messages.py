"""What we write without the protocol buffers library is byte for byte what the library writes."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_TENSOR, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING

from tensorboard_plugin_dlprof.run_metadata import dlprof_plugin_pb2
from tensorboard_plugin_dlprof.run_metadata.messages import Headline, ProfileMetadata, first_event, metadata_event

WALL_TIME = 1_764_000_000.25

EVERYTHING = ProfileMetadata(
    schema_version=1,
    database_name="a name with \N{SNOWMAN}.dlprof_dldb.sqlite",
    source_name="trace.json.gz",
    source_fingerprint="0123456789abcdef" * 4,
    source_format="pytorch",
    rank=0,
    world_size=300,
    gpu_names=["NVIDIA H200", "", "NVIDIA A100-SXM4-80GB " * 20],
    profile_name="a title",
    captured_at_ns=1_764_000_000_000_000_000,
    headline=Headline(
        wall_time_ns=5_000_000_000,
        iterations=0,
        average_iteration_ns=2_500_000,
        gpu_utilization_fraction=0.0,
        tensor_core_time_fraction=1 / 3,
        tensor_core_efficiency_fraction=1.0,
    ),
)

NOTHING = ProfileMetadata(schema_version=1, database_name="trace.dlprof_dldb.sqlite")

SOME = ProfileMetadata(1, "trace.dlprof_dldb.sqlite", source_name="", rank=-1, captured_at_ns=-1, headline=Headline())


def by_the_library(metadata: ProfileMetadata) -> bytes:
    """The same message; an empty text is as unknown as none."""
    values = {name: getattr(metadata, name) for name in metadata.__struct_fields__}
    if metadata.headline is not None:
        known = {name: getattr(metadata.headline, name) for name in metadata.headline.__struct_fields__}
        values["headline"] = dlprof_plugin_pb2.Headline(**known)
    known = {name: value for name, value in values.items() if value != ""}
    return dlprof_plugin_pb2.ProfileMetadata(**known).SerializeToString()


@pytest.mark.parametrize("metadata", [EVERYTHING, NOTHING, SOME])
def test_metadata_is_the_librarys(metadata: ProfileMetadata) -> None:
    """All fields, none, negative numbers, and a headline that knows nothing."""
    assert metadata.to_bytes() == by_the_library(metadata)


def test_every_field_of_the_message_can_be_told() -> None:
    """One that is added to the message is added here."""
    messages = dlprof_plugin_pb2.DESCRIPTOR.message_types_by_name
    for struct in (ProfileMetadata, Headline):
        assert list(struct.__struct_fields__) == [field.name for field in messages[struct.__name__].fields]


def test_events_are_the_librarys() -> None:
    """The first of a file, and the one with the metadata; a name of more than 127 bytes has a longer length."""
    writer = SourceMetadata(writer="tensorboard_plugin_dlprof")
    first = Event(wall_time=WALL_TIME, file_version="brain.Event:2", source_metadata=writer)
    assert first_event(WALL_TIME) == first.SerializeToString()
    plugin_data = SummaryMetadata.PluginData(plugin_name="dlprof", content=EVERYTHING.to_bytes())
    name = TensorProto(
        dtype=DT_STRING, tensor_shape=TensorShapeProto(), string_val=[EVERYTHING.database_name.encode("utf-8")]
    )
    value = Summary.Value(
        tag="dlprof/" + "n" * 200,
        metadata=SummaryMetadata(plugin_data=plugin_data, data_class=DATA_CLASS_TENSOR),
        tensor=name,
    )
    event = Event(wall_time=WALL_TIME, step=0, summary=Summary(value=[value]))
    assert metadata_event(WALL_TIME, value.tag, EVERYTHING) == event.SerializeToString()
