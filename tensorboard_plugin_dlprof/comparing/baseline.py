"""A side stored in a file, so that CI needs no old trace: exact sums and samples, and no path of a user's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.errors import BadRequest, OutputNotWritable, UnfitDatabase, reason_of
from tensorboard_plugin_dlprof.opening.regular_file import open_regular

_FORMAT = "dlprof-baseline-1"

_MOST_BYTES = 512_000_000

_MOST_RECORDINGS = 1_000


class _Baseline(msgspec.Struct):
    format: str
    recordings: list[Recording]


def save(path: Path, recordings: Sequence[Recording]) -> None:
    """Store recordings of one program.

    Raises:
        OutputNotWritable: the file cannot be written.
    """
    try:
        path.write_bytes(msgspec.json.encode(_Baseline(_FORMAT, list(recordings))) + b"\n")
    except OSError as error:
        raise OutputNotWritable(f"{path} cannot be written: {reason_of(error)}; name another file.") from None


def load(path: Path) -> list[Recording]:
    """The recordings of a stored baseline.

    Raises:
        NotFound: there is no such file.
        BadRequest: it is another file, or of a version that this package does not know.
        UnfitDatabase: it is damaged.
    """
    with open_regular(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES or not data.startswith(b'{"format":"dlprof-baseline-'):
        raise BadRequest(f"{path} is not a baseline; make one with dlprof compare PROFILE --save-baseline {path}.")
    try:
        result = msgspec.json.decode(data, type=_Baseline)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnfitDatabase(f"{path} is damaged, or of another version; store the baseline again.") from None
    if result.format != _FORMAT or not 0 < len(result.recordings) <= _MOST_RECORDINGS:
        raise UnfitDatabase(f"{path} is of another version; store the baseline again.")
    if not all(map(_is_sound, result.recordings)):
        raise UnfitDatabase(f"{path} holds impossible numbers; store the baseline again.")
    return result.recordings


def _is_sound(one: Recording) -> bool:
    samples = (one.iteration_time, one.idle_time, one.kernel_time, one.tensor_core_time, one.gpu_utilization)
    return (
        one.iterations > 0
        and one.devices_in_use > 0
        and len(one.devices) > 0
        and len({len(values) for values in samples}) == 1
        and all(op.calls >= 0 and op.kernel_ns >= 0 and op.graph_ns >= 0 for op in one.ops)
    )
