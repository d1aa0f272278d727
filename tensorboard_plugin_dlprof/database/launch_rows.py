"""What launches of kernels have in common, stored once: a loop launches one kernel in one way a million times.

A launch is an op, a kernel and how it was launched. Kernels lie by op and name, so most have the launch of the kernel
before them; ``ext_kernels`` names it where it changes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import codes
from tensorboard_plugin_dlprof.database.lookups import integers
from tensorboard_plugin_dlprof.database.rows import insert_integers
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Kernels

_MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random: the golden ratio."""


@dataclass(slots=True, frozen=True)
class Launches:
    """The distinct launches, and where in the order of the kernels they change."""

    first: Int64s
    """Row of the first kernel of each launch, ascending."""
    head: Int64s
    """Rows of the kernels whose launch is another than that of the kernel before."""
    launch: Int64s
    """Launch of each of these, from 0."""


def distinct_launches(kernels: Kernels) -> Launches:
    """The launches of some kernels, in the order of first use."""
    columns = _columns(kernels)
    changes = np.zeros(len(kernels.op), np.bool_)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    head = np.flatnonzero(changes).astype(np.int64)
    number, first = _numbered([column[head] for column in columns])
    order = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return Launches(head[first[order]], head, place[number])


def write_launches(con: sqlite3.Connection, kernels: Kernels, text: Int64s) -> None:
    """Store what the tables of 1.8 do not tell about kernels; ``text`` as for ``write_raw_tables``."""
    found = distinct_launches(kernels)
    first = found.first
    insert_integers(
        con,
        "ext_launches",
        {
            "kernel_id": first + 1,
            "read_only_ops_id": kernels.op[first].astype(np.int64) + 1,
            "name_id": text[kernels.name[first]],
            "long_name_id": text[kernels.long_name[first]],
            "stream": kernels.stream[first],
            "registers": kernels.registers[first],
            "static_shared_bytes": kernels.static_shared_bytes[first],
            "dynamic_shared_bytes": kernels.dynamic_shared_bytes[first],
            "launched": kernels.launched[first],
            "occupancy_percent": kernels.occupancy_percent[first],
        },
        len(first),
    )
    insert_integers(con, "ext_kernels", {"kernel_id": found.head + 1, "launch_id": found.launch + 1}, len(found.head))


def launch_of_kernels(con: sqlite3.Connection, kernels: int) -> Int64s:
    """``ext_launches.id`` of each of a number of kernels, whose ids count from 1; 0 where a damaged file has none."""
    first, launch = integers(con, "SELECT kernel_id, launch_id FROM ext_kernels ORDER BY kernel_id", 2)
    first = np.clip(first, 1, kernels + 1) - 1
    lengths = np.diff(np.append(first, kernels))
    before = np.zeros(int(first[0]) if len(first) else kernels, np.int64)
    return np.concatenate([before, np.repeat(launch, lengths)])


def _columns(kernels: Kernels) -> list[npt.NDArray[np.integer]]:
    return [
        kernels.op,
        kernels.name,
        kernels.long_name,
        kernels.matrix_unit,
        kernels.device,
        kernels.stream,
        kernels.registers,
        kernels.static_shared_bytes,
        kernels.dynamic_shared_bytes,
        kernels.launched,
        kernels.occupancy_percent,
        *(kernels.grid[:, axis] for axis in range(3)),
        *(kernels.block[:, axis] for axis in range(3)),
    ]


def _numbered(columns: list[npt.NDArray[np.integer]]) -> tuple[Int64s, Int64s]:
    """As ``codes``, in any order: one sort of a hash instead of one of each column, and exact all the same."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.int64).view(np.uint64)) * _MIXER
        mixed ^= mixed >> np.uint64(29)
    _, first, number = np.unique(mixed, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    if any((column[first][number] != column).any() for column in columns):
        return codes(*columns)
    return number.astype(np.int64), first.astype(np.int64)
