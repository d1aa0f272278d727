"""Writes the event file that carries a profile's metadata, and its scalars where asked for.

One event file per database, in the folder of the run. Its name sorts before every event file of a training job:
TensorBoard's slow reader walks the files of a run in the order of their names and never goes back, so that a later name
would freeze the scalars of a job that still writes. The file is complete before it gets that name.
"""

from __future__ import annotations

import contextlib
import os
import struct
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
from tensorboard_plugin_dlprof.run_metadata.wire import Value, message


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
    """Event files of ours in ``folder``, by name."""
    return sorted(path for path in folder.glob(f"{EVENT_FILE_NAME}*") if path.is_file())


def _events(metadata: ProfileMetadata, scalars: Sequence[ScalarSeries]) -> Iterator[bytes]:
    # Of now, not of the capture: the earliest time in a run is the run's place in TensorBoard's list.
    now = time.time()
    yield message({1: now, 3: "brain.Event:2", 10: {1: "tensorboard_plugin_dlprof"}})  # file_version, source_metadata
    name = metadata.database_name
    about = _about(PLUGIN_NAME, _DATA_CLASS_TENSOR, content=metadata.encoded())
    # The slow reader loses the data of all runs over a tag of this class without a value, so there is one.
    yield _event(now, 0, metadata_tag(name), _tensor(_DT_STRING, text=name), about)
    for series in scalars:
        about = _about("scalars", _DATA_CLASS_SCALAR, description=series.description)
        for position, (step, value) in enumerate(series.points):
            tensor = _tensor(_DT_FLOAT, floats=struct.pack("<f", value))
            yield _event(now, step, series.tag, tensor, None if position else about)


# Messages of TensorBoard's event.proto, summary.proto, tensor.proto and types.proto, by the numbers of their fields.
_DATA_CLASS_SCALAR, _DATA_CLASS_TENSOR = 1, 2
_DT_FLOAT, _DT_STRING = 1, 7


def _event(wall_time: float, step: int, tag: str, tensor: Value, about: Value) -> bytes:
    """``Event`` with a ``Summary`` of one value."""
    return message({1: wall_time, 2: step, 5: {1: {1: tag, 8: tensor, 9: about}}})


def _tensor(kind: int, *, floats: bytes | None = None, text: str | None = None) -> Value:
    """``TensorProto`` without dimensions."""
    return {1: kind, 2: {}, 5: floats, 8: text}


def _about(plugin: str, data_class: int, *, content: bytes | None = None, description: str | None = None) -> Value:
    """``SummaryMetadata``."""
    return {1: {1: plugin, 2: content}, 3: description, 4: data_class}
