"""Reads event files of ours, as TensorBoard does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.run_metadata.dlprof_plugin_pb2 import ProfileMetadata


def read_event_file(path: Path) -> ProfileMetadata | None:
    """The metadata in an event file; ``None`` where it holds none."""
    for event in read_events(path):
        for value in event.summary.value:
            if value.metadata.plugin_data.plugin_name == PLUGIN_NAME:
                return ProfileMetadata.FromString(value.metadata.plugin_data.content)
    return None


def read_events(path: Path) -> Iterator[Event]:
    """The events up to the first damaged record."""
    for record in RawEventFileLoader(str(path)).Load():
        yield Event.FromString(record)
