"""Writes the event file that carries a profile's metadata, and its scalars where asked for.

One event file per database, in the folder of the run. Its name sorts before every event file of a training job:
TensorBoard's slow reader walks the files of a run in the order of their names and never goes back, so that a later name
would freeze the scalars of a job that still writes. The file is complete before it gets that name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.metadata import EVENT_FILE_NAME, PLUGIN_NAME
from tensorboard_plugin_dlprof.naming import event_file_name
from tensorboard_plugin_dlprof.opening.owners import owner
from tensorboard_plugin_dlprof.run_metadata.profile_metadata import ProfileMetadata
from tensorboard_plugin_dlprof.run_metadata.records import record
from tensorboard_plugin_dlprof.run_metadata.wire import double, message, text, whole

_STRING = 7
"""TensorFlow's ``DataType.DT_STRING``."""

_TENSOR = 2
"""TensorBoard's ``DataClass.DATA_CLASS_TENSOR``."""


class ScalarSeries(msgspec.Struct, frozen=True):
    """One line of the SCALARS tab."""

    tag: str
    description: str
    points: Sequence[tuple[int, float]]
    """Iteration number and value; an iteration whose value is unknown has no point."""


def metadata_tag(database: str) -> str:
    """Tag of the metadata of the database of this file name."""
    return f"{PLUGIN_NAME}/{database}"


def write_event_file(folder: Path, metadata: ProfileMetadata, scalars: Sequence[ScalarSeries] = ()) -> Path:
    """Writes the event file of ``metadata.database_name`` into ``folder``, in place of an earlier one.

    Raises:
        OutputNotWritable: the folder cannot be written to.
    """
    path = folder / event_file_name(metadata.database_name)
    # Without "tfevents" in its name, TensorBoard does not see the unfinished file. An import sweeps what is left.
    unfinished = folder / f".{metadata.database_name}.tmp-{owner()}"
    try:
        try:
            with unfinished.open("wb") as file:
                for event in _events(metadata, scalars):
                    file.write(record(event))
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
    """Event files of ours in ``folder``, by name; none of a folder that is missing or cannot be listed."""
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.name.startswith(EVENT_FILE_NAME) and path.is_file())
    return []


def _events(metadata: ProfileMetadata, scalars: Sequence[ScalarSeries]) -> Iterator[bytes]:
    """Messages of ``event.proto``: https://github.com/tensorflow/tensorboard/tree/master/tensorboard/compat/proto."""
    # Of now, not of the capture: the earliest time in a run is the run's place in TensorBoard's list.
    now = time.time()
    wall_time = double(1, now)
    yield wall_time + text(3, "brain.Event:2") + message(10, text(1, "tensorboard_plugin_dlprof"))
    # The slow reader loses the data of all runs over a tag of this class without a value, so there is one.
    value = message(8, whole(1, _STRING), message(2), text(8, metadata.database_name))
    plugin_data = message(1, text(1, PLUGIN_NAME), message(2, metadata.serialized()))
    tag = text(1, metadata_tag(metadata.database_name))
    yield wall_time + message(5, message(1, tag, value, message(9, plugin_data, whole(4, _TENSOR))))
    if scalars:
        yield from _scalar_events(scalars, now)


def _scalar_events(scalars: Sequence[ScalarSeries], wall_time: float) -> Iterator[bytes]:
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
            yield Event(wall_time=wall_time, step=step, summary=Summary(value=[point])).SerializeToString()
