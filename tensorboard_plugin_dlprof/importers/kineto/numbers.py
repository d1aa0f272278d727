"""Numbers for what a trace writes as text: threads, dimensions, kinds of copies and waits, devices."""

from __future__ import annotations

import re

from tensorboard_plugin_dlprof.events.tables import COPIES, WorkKind
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

ThreadKey = tuple[int | str, int | str]
"""A process and one of its threads, as written: numbers, or a text with a label and a name."""


GpuKey = tuple[str, int]
"""A GPU as written: the process of its track or of its memory where that is a text with a label, else empty; and its
number."""


def thread_key(written: ThreadKey) -> ThreadKey:
    """Process and thread with numbers written as text converted to numbers. A thread may have a name instead of a
    number, and a process a label before its number; these stay texts."""
    pid, tid = written
    number = whole_number(tid, -1)
    process = pid if label_of(pid) else whole_number(pid, -1)
    return process, tid if number == -1 and isinstance(tid, str) else number


def label_of(process: int | str) -> str:
    """The label that a tool for merging traces wrote before a process's number (``[TP01] `` in ``[TP01] 4567``);
    usually empty."""
    if not isinstance(process, str):
        return ""
    label = process.rstrip("0123456789")
    return label if label != process and label.strip(" +-") else ""


_LAST_NUMBER = re.compile(r"(\d+)\D*$")


def track_number(value_and_track: tuple[object, object]) -> int:
    """The number of a device or stream as written, else that in its track's name (``stream 7``); -1 if unknown."""
    for candidate in value_and_track:
        number = whole_number(candidate)
        if number >= 0:
            return number
        if isinstance(candidate, str) and (match := _LAST_NUMBER.search(candidate)):
            return whole_number(match[1])
    return -1


def triple(text: bytes) -> tuple[int, int, int]:
    """The three numbers in ``[4, 2, 1]``; zeros if it is something else."""
    parts = text.strip(b"[] \t\r\n").split(b",")
    if len(parts) != 3:
        return (0, 0, 0)
    x, y, z = (whole_number(part, 0) for part in parts)
    return (x, y, z) if all(0 <= part < 1 << 31 for part in (x, y, z)) else (0, 0, 0)


_COPY_DIRECTION = re.compile(r"\b(Host|Device|Array|Peer|[HDAPM])(?:[Tt]o|2)(Host|Device|Array|Peer|[HDAPM])\b")

_COPY_KINDS = {copy[0] + copy[-1]: number for number, copy in enumerate(COPIES, 1)}

_PLAIN_MEMORY = str.maketrans("M", "H")
"""Intel's M stands for host memory that was not allocated for the device."""


def work_kind(category: str) -> WorkKind:
    """Whether device work is a copy, a set or a kernel."""
    written = category.lower()
    return WorkKind.MEMCPY if "memcpy" in written else WorkKind.MEMSET if "memset" in written else WorkKind.KERNEL


def copy_kind(category_name_and_direction: tuple[str, str, object]) -> int:
    """CUPTI's number for the kind of a copy, of what is written of it; -1 if it is unknown, or no copy.

    The name is ``Memcpy HtoD (Pageable -> Device)``, or ``Memcpy M2D (Memory -> Device)`` on Intel's GPUs; the
    direction is ``HtoD`` on AMD's GPUs, else absent.
    """
    category, *texts = category_name_and_direction
    for text in texts if work_kind(category) == WorkKind.MEMCPY else ():
        if isinstance(text, str) and (match := _COPY_DIRECTION.search(text)):
            return _COPY_KINDS.get((match[1][0] + match[2][0]).translate(_PLAIN_MEMORY), -1)
    return -1


_SYNC_TYPES = {"event sync": 1, "stream wait event": 2, "stream sync": 3, "context sync": 4}
"""CUPTI's ``CUpti_ActivitySynchronizationType``, by the names that Kineto gives them."""


def sync_type(kind_and_name: tuple[object, str]) -> int:
    """CUPTI's number for the kind of a synchronisation, or else for its name; 0 if unknown."""
    kind, name = kind_and_name
    return _SYNC_TYPES.get(str(kind or name).lower(), 0)


def gpu_key(process_and_number: tuple[int | str, object]) -> GpuKey:
    """The GPU of device work, of its track's process and the number in its ``args``."""
    process, number = process_and_number
    # A trace without numbers of devices has one device.
    return _labelled(process), max(0, track_number((number, process)))


def memory_key(process_type_and_number: tuple[int | str, object, object]) -> GpuKey:
    """The GPU of a memory event, of its process, ``Device Type`` and ``Device Id``; the number is -1 for the CPU."""
    process, kind, number = process_type_and_number
    on_gpu = whole_number(kind) > 0  # 0 is the CPU, whose id is -1; 1 is CUDA and HIP alike
    return _labelled(process), whole_number(number) if on_gpu else -1


def _labelled(process: int | str) -> str:
    return process if isinstance(process, str) and label_of(process) else ""
