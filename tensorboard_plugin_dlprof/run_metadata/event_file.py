"""Writes event files with the metadata and, on request, the scalars of a profile.

There is one event file per database, in the folder of the run. Its name sorts before all event files of a training job:
TensorBoard's slow reader reads the files of a run in the order of their names and never returns to an earlier file, so
after a file with a later name it would no longer read the scalars of a running job. The file gets its name when it is
complete.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tensorboard_plugin_dlprof.database.naming import event_file_name
from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.metadata import EVENT_FILE_NAME, PLUGIN_NAME
from tensorboard_plugin_dlprof.opening.owners import owner

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event

    from tensorboard_plugin_dlprof.run_metadata.dlprof_plugin_pb2 import ProfileMetadata


class ScalarSeries(msgspec.Struct, frozen=True):
    """One line of the SCALARS tab."""

    tag: str
    description: str
    points: Sequence[tuple[int, float]]
    """Iteration numbers and values; iterations with an unknown value are left out."""


def metadata_tag(database: str) -> str:
    """Tag of the metadata of the database of this file name."""
    return f"{PLUGIN_NAME}/{database}"


def write_event_file(folder: Path, metadata: ProfileMetadata, scalars: Sequence[ScalarSeries] = ()) -> Path:
    """Write the event file of ``metadata.database_name`` into ``folder``, replacing an earlier one; returns its path.

    Raises:
        OutputNotWritable: The folder cannot be written to.
    """
    path = folder / event_file_name(metadata.database_name)
    # TensorBoard ignores the unfinished file, as its name lacks "tfevents". Imports delete those of killed processes.
    unfinished = folder / f".{metadata.database_name}.tmp-{owner()}"
    try:
        try:
            with unfinished.open("wb") as file:
                for event in _events(metadata, scalars):
                    file.write(record(event.SerializeToString()))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise
    except OSError as error:
        raise OutputNotWritable(f"{path}: the event file cannot be written: {reason_of(error)}.") from error
    return path


def find_event_files(folder: Path) -> list[Path]:
    """Our event files in ``folder``, by name; empty if the folder is missing or cannot be listed."""
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.name.startswith(EVENT_FILE_NAME) and path.is_file())
    return []


def _events(metadata: ProfileMetadata, scalars: Sequence[ScalarSeries]) -> Iterator[Event]:
    from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
    from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_TENSOR, Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.compat.proto.types_pb2 import DT_STRING

    # The current time and not that of the capture, because the earliest time in a run affects TensorBoard's run order.
    now = time.time()
    yield Event(
        wall_time=now, file_version="brain.Event:2", source_metadata=SourceMetadata(writer="tensorboard_plugin_dlprof")
    )
    name = TensorProto(
        dtype=DT_STRING, tensor_shape=TensorShapeProto(), string_val=[metadata.database_name.encode("utf-8", "replace")]
    )
    # TensorBoard's slow reader fails for all runs if a tag of this data class has no value, so it gets one.
    yield Event(
        wall_time=now,
        step=0,
        summary=Summary(
            value=[
                Summary.Value(
                    tag=metadata_tag(metadata.database_name),
                    metadata=SummaryMetadata(
                        plugin_data=SummaryMetadata.PluginData(
                            plugin_name=PLUGIN_NAME, content=metadata.SerializeToString()
                        ),
                        data_class=DATA_CLASS_TENSOR,
                    ),
                    tensor=name,
                )
            ]
        ),
    )
    if scalars:
        yield from _scalar_events(scalars, now)


def _scalar_events(scalars: Sequence[ScalarSeries], wall_time: float) -> Iterator[Event]:
    import numpy as np
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_SCALAR, Summary
    from tensorboard.plugins.scalar.metadata import create_summary_metadata
    from tensorboard.util.tensor_util import make_tensor_proto

    for series in scalars:
        about = create_summary_metadata(display_name=None, description=series.description)
        about.data_class = DATA_CLASS_SCALAR
        for position, (step, value) in enumerate(series.points):
            point = Summary.Value(tag=series.tag, tensor=make_tensor_proto(np.float32(value)))
            if position == 0:
                point.metadata.CopyFrom(about)
            yield Event(wall_time=wall_time, step=step, summary=Summary(value=[point]))


_CASTAGNOLI = 0x82F63B78
"""CRC-32C's polynomial, its bits reversed."""

_MASK_DELTA = 0xA282EAD8


def record(data: bytes) -> bytes:
    """``data`` as one record: its length (64 bits), a checksum of the length, the data, and a checksum of the data,
    little-endian (TensorFlow's ``lib/io/record_writer.h``). Loading TensorBoard's own writer would take longer.
    """
    length = struct.pack("<Q", len(data))
    return b"".join((length, _checksum(length), data, _checksum(data)))


def _checksum(data: bytes) -> bytes:
    """Masked CRC-32C: the format masks checksums, because CRCs of data that contains CRCs are weak."""
    table = _table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ table[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF)


@lru_cache(maxsize=1)
def _table() -> tuple[int, ...]:
    remainders = []
    for remainder in range(256):
        for _ in range(8):
            remainder = (remainder >> 1) ^ (_CASTAGNOLI if remainder & 1 else 0)
        remainders.append(remainder)
    return tuple(remainders)
