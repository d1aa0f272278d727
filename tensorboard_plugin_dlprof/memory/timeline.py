"""Reads PyTorch's memory timelines (``export_memory_timeline(path.raw.json.gz)``), which name no addresses.

They are a JSON list of rows: time in ns (-1: held before), action (1 existed before, 2 created, 3 another version, 4
freed), bytes, and category. A new version of a tensor is two rows: the old one is freed, the new one created.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.errors import BrokenSource, UnsafeFile
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, STAYS, UNKNOWN, Blocks, History
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream
from tensorboard_plugin_dlprof.opening.regular_file import shown

_ROW = rb"\s*\[\s*(?:-1|\d{1,19})\s*,\s*[1-4]\s*,\s*-?\d{1,18}\s*,\s*[0-7]\s*\]"
_HEAD = re.compile(rb"\s*\[" + _ROW + rb"\s*(?:,|\]|\Z)")

_CATEGORIES = ("parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail")
"""PyTorch's, by their number; the last number is unknown."""

_CHUNK = 1 << 20
_ROW_MEMORY = 200
"""Bytes of memory that a row takes while it is read and paired."""

_MOST_BYTES = float(1 << 61)


def is_timeline(head: bytes) -> bool:
    """Whether a file begins like one."""
    return _HEAD.match(head) is not None


def read_timeline(path: Path, max_expanded_bytes: int, memory_bytes: int, progress: Callable[[float], None]) -> History:
    """The memory of the GPU in a timeline. Which GPU it is it does not say.

    Args:
        path: The file.
        max_expanded_bytes: Limit of its expanded size.
        memory_bytes: What reading may take.
        progress: Called with the fraction that is read.

    Raises:
        BrokenSource: It is damaged.
        UnsafeFile: It is too large.
    """
    parts: list[Int64s] = []
    count = 0
    with ByteStream(path, max_expanded_bytes) as stream:
        for rows in _rows(stream, path):
            count += len(rows)
            if count * _ROW_MEMORY > memory_bytes:
                raise UnsafeFile(
                    f"{shown(path)} has more events than the import has memory for; profile fewer steps, or raise the "
                    "limit of memory."
                )
            parts.append(rows)
            progress(stream.fraction)
    table = np.concatenate(parts) if parts else np.zeros((0, 4), np.int64)
    time, action, change, category = table.T
    if not len(table) or float(np.abs(change).sum(dtype=np.float64)) >= _MOST_BYTES:
        raise BrokenSource(f"{shown(path)} holds no memory events, or impossible sizes; export the timeline again.")
    if ((action < 1) | (action > 4) | (category < 0) | (category > len(_CATEGORIES)) | (time < -1)).any():
        raise BrokenSource(f"{shown(path)} is damaged: it has actions or categories that PyTorch does not have.")
    order = np.argsort(time, kind="stable")
    return _history(time[order], change[order], category[order])


def _rows(stream: ByteStream, path: Path) -> Iterator[Int64s]:
    """The rows of the list, some at a time: shape (n, 4)."""
    decoder = msgspec.json.Decoder(list[tuple[int, int, int, int]])
    left = b""
    is_first = True
    while chunk := stream.read(_CHUNK):
        left += chunk
        end = left.rfind(b"]", 0, len(left) - 1) + 1
        # The bracket that ends the list is not the end of a row.
        if left[:end].rstrip().endswith(b"]]"):
            end = left[:end].rstrip().rfind(b"]", 0, -1) + 1
        if end:
            yield _decoded(decoder, left[:end], is_first, path)
            left, is_first = left[end:], False
        elif len(left) > 4 * _CHUNK:
            raise BrokenSource(f"{shown(path)} is damaged: it has a row larger than any event.")
    rest = left.strip()
    if not rest.endswith(b"]"):
        raise BrokenSource(f"{shown(path)} is cut short: its list of events does not end; export the timeline again.")
    if rest != b"]":
        yield _decoded(decoder, rest[:-1], is_first, path)


def _decoded(
    decoder: msgspec.json.Decoder[list[tuple[int, int, int, int]]], text: bytes, is_first: bool, path: Path
) -> Int64s:
    text = text.strip()
    text = text[1:] if text[:1] == (b"[" if is_first else b",") else text
    try:
        return np.array(decoder.decode(b"[" + text + b"]"), np.int64).reshape(-1, 4)
    except (ValueError, OverflowError, RecursionError):  # msgspec's errors are ValueErrors
        raise BrokenSource(f"{shown(path)} is damaged: what follows is no row of a memory timeline.") from None


def _history(time: Int64s, change: Int64s, category: Int64s) -> History:
    """The history; events are the rows after the start, and what was held before is allocated before the first."""
    before = int(np.count_nonzero(time < 0))
    events = time[before:]
    allocated, freed, num_bytes, kinds = _pairs(change, category, before)
    known = np.array([CATEGORIES.index(name) for name in _CATEGORIES] + [UNKNOWN], np.int8)
    return History(
        device=0,
        measure="allocated",
        relative=False,
        time_ns=events,
        in_use_bytes=np.cumsum(np.append(change[:before].sum(), change[before:])),
        reserved_bytes=np.full(len(events) + 1, -1, np.int64),
        blocks=Blocks(allocated, freed, num_bytes, known[kinds], *np.zeros((2, len(kinds)), np.int32)),
        owners=[""],
    )


def _pairs(change: Int64s, category: Int64s, before: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Blocks: the first allocated of a size and category is the first freed, since no address tells more.

    Sums by category are then right at any moment. A free without an allocation is left out.
    """
    rows = np.flatnonzero(change != 0)
    size, kind = np.abs(change[rows]), category[rows]
    order = np.lexsort((rows, size, kind))
    rows, size, kind = rows[order], size[order], kind[order]
    same = np.append(False, (size[1:] == size[:-1]) & (kind[1:] == kind[:-1])) if len(rows) else np.zeros(0, np.bool_)
    group = np.cumsum(~same)
    allocates = change[rows] > 0
    owned = rows[allocates]
    freed = np.full(len(owned), STAYS, np.int64)
    # The n-th allocation of a group goes with its n-th free.
    of_allocation, of_free = _ranks(group[allocates]), _ranks(group[~allocates])
    frees = rows[~allocates]
    wanted = group[allocates] * (len(change) + 1) + of_allocation
    offered = group[~allocates] * (len(change) + 1) + of_free
    place = np.searchsorted(offered, wanted)
    hit = np.flatnonzero(place < len(offered))
    hit = hit[offered[place[hit]] == wanted[hit]]
    hit = hit[frees[place[hit]] > owned[hit]]
    freed[hit] = frees[place[hit]] - before
    allocated = np.maximum(owned - before, -1)
    order = np.argsort(owned, kind="stable")
    return allocated[order], freed[order], size[allocates][order], kind[allocates][order]


def _ranks(group: Int64s) -> Int64s:
    """The number of each row among those of its group; groups are in order."""
    if not len(group):
        return np.zeros(0, np.int64)
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    return np.arange(len(group)) - np.repeat(first, np.diff(np.append(first, len(group))))
