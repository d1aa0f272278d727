"""Messages are byte for byte those of the library of protocol buffers."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
from tensorboard.compat.proto.summary_pb2 import Summary

from tensorboard_plugin_dlprof.run_metadata import dlprof_plugin_pb2 as pb
from tensorboard_plugin_dlprof.run_metadata.profile_metadata import Headline, ProfileMetadata
from tensorboard_plugin_dlprof.run_metadata.wire import Value, message


@pytest.mark.parametrize("number", [1, 127, 128, 300, (1 << 63) - 1, -1, -(1 << 63)])
def test_whole_numbers(number: int) -> None:
    """Of any length, and negative ones."""
    assert message({2: number}) == Event(step=number).SerializeToString()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({1: 0.1, 3: "brain.Event:2"}, Event(wall_time=0.1, file_version="brain.Event:2")),
        ({10: {1: "Größe 🐍"}}, Event(source_metadata=SourceMetadata(writer="Größe 🐍"))),
        ({4: bytes(range(256)), 2: None}, Event(graph_def=bytes(range(256)))),
        (
            {5: {1: [{1: "a"}, {1: "b"}]}},
            Event(summary=Summary(value=[Summary.Value(tag="a"), Summary.Value(tag="b")])),
        ),
        ({5: {}}, Event(summary=Summary())),
    ],
)
def test_doubles_texts_bytes_and_messages(fields: dict[int, Value], expected: Event) -> None:
    """One of them, several, and none."""
    assert message(fields) == expected.SerializeToString()


@pytest.mark.parametrize("double", [0.5, 3])
def test_metadata_is_what_the_contract_says(double: float) -> None:
    """Each field has the name, number and type that it has in ``dlprof_plugin.proto``."""
    headline = {name: number + double for number, name in enumerate(Headline.__struct_fields__)}
    headline |= {"wall_time_ns": 1 << 40, "iterations": 0}
    fields = {name: f"text of {name}" for name in ProfileMetadata.__struct_fields__} | {
        "schema_version": 1,
        "rank": 0,
        "world_size": 8,
        "gpu_names": ["NVIDIA H200", "NVIDIA A100"],
        "captured_at_ns": 1 << 60,
    }
    written = ProfileMetadata(**fields | {"headline": Headline(**headline)})
    assert written.encoded() == pb.ProfileMetadata(**fields | {"headline": pb.Headline(**headline)}).SerializeToString()


def test_unknown_metadata_is_not_stored() -> None:
    """Neither as 0 nor as an empty text."""
    written = ProfileMetadata(schema_version=1, database_name="a", gpu_names=[], headline=Headline())
    expected = pb.ProfileMetadata(schema_version=1, database_name="a", headline=pb.Headline())
    assert written.encoded() == expected.SerializeToString()
