"""Reads event files of ours, as TensorBoard does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.run_metadata import dlprof_plugin_pb2
from tensorboard_plugin_dlprof.run_metadata.messages import Headline, ProfileMetadata


def read_event_file(path: Path) -> ProfileMetadata | None:
    """The metadata in an event file; ``None`` where it holds none."""
    for event in read_events(path):
        for value in event.summary.value:
            if value.metadata.plugin_data.plugin_name == PLUGIN_NAME:
                return parsed(value.metadata.plugin_data.content)
    return None


def parsed(content: bytes) -> ProfileMetadata:
    """The metadata in the content of a summary, as the protocol buffers library reads it."""
    message = dlprof_plugin_pb2.ProfileMetadata.FromString(content)
    values = {field.name: value for field, value in message.ListFields()}
    if "headline" in values:
        values["headline"] = Headline(**{field.name: value for field, value in message.headline.ListFields()})
    return ProfileMetadata(**{**values, "gpu_names": list(message.gpu_names)})


def read_events(path: Path) -> Iterator[Event]:
    """The events up to the first damaged record."""
    for record in RawEventFileLoader(str(path)).Load():
        yield Event.FromString(record)
