"""What the causes of idle time are found from: device work, host calls, and what the host was in."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.diagnosis.spans import Spans

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


class Work(msgspec.Struct):
    """Device work, one row each, in any order."""

    start_ns: Int64s
    stop_ns: Int64s
    device: Int32s
    stream: Int64s
    call: Int64s
    """Row of ``HostCalls``; -1 if none is recorded."""


class HostCalls(msgspec.Struct):
    """API calls, one row each, in any order."""

    start_ns: Int64s
    stop_ns: Int64s
    thread: Int32s
    """Number of the host thread, below ``Recording.process_of_thread``'s length."""
    name: Int32s
    """Row of ``Recording.call_names``."""


class HostItems(msgspec.Struct):
    """What host threads were in, one row each, in any order; ``spans.row`` is the caller's number of the item."""

    spans: Spans
    thread: Int32s


class Recording(msgspec.Struct):
    """Everything by which idle time is explained. Times are nanoseconds since the start of the capture."""

    work: Work
    calls: HostCalls
    call_names: list[str]
    loader: HostItems
    """Ranges in which a batch is fetched."""
    io: HostItems
    """System calls on files and sockets."""
    ops: HostItems
    code: HostItems
    """Users' ranges and Python functions, without marks of iterations and ranges of libraries."""
    process_of_thread: Int64s
    main: int
    """The thread that drives the program; -1 if unknown."""
    begin_ns: int
    end_ns: int
    """The capture; gaps at its ends are cut there."""
    cuts_ns: tuple[int, ...] = ()
    """Where gaps are cut besides: at the beginning of the first iteration and the end of the last."""
    one_program: bool = False
    """Whether all processes of the recording are one program, whose main thread may answer for any other."""
