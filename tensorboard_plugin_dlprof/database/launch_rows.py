"""Stores once what many kernels have in common: a loop may launch the same kernel in the same way a million times.

A launch, here, is an op, a kernel name and a launch configuration. Kernels are ordered by op and name, so most have the
same launch as the kernel before; ``ext_kernels`` has a row only where the launch changes.
"""

from __future__ import annotations

import sqlite3

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.rows import insert_integers
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.database.lookups import integers
from tensorboard_plugin_dlprof.database.runs import Runs, runs
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Kernels


def distinct_launches(kernels: Kernels) -> Runs:
    """The distinct launches of kernels, in the order of first use."""
    return runs(_columns(kernels))


def write_launches(con: sqlite3.Connection, kernels: Kernels, text: Int64s) -> LaunchRuns:
    """Store the launches of kernels, after ``write_raw_tables`` has stored the grids and blocks.

    Args:
        con: the database.
        kernels: all kernels of the profile.
        text: ``dictionary.id`` of each id in ``Profile.strings``.

    Returns:
        The launch of each kernel, as stored.
    """
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
            "device_id": kernels.device[first],
            "uses_tc": (kernels.matrix_unit[first] == MatrixUnit.YES).astype(np.int64),
            "grid_id": _dimensions(con, kernels.grid[first]),
            "block_id": _dimensions(con, kernels.block[first]),
        },
        len(first),
    )
    stored = LaunchRuns(spilled(found.head + 1), spilled(found.kind + 1))
    insert_integers(con, "ext_kernels", {"kernel_id": stored.first, "launch_id": stored.launch}, len(found.head))
    return stored


class LaunchRuns(msgspec.Struct, frozen=True):
    """The launch of each kernel, run-length encoded as in ``ext_kernels``."""

    first: Int64s
    """``read_only_kernels.id`` of the first kernel of each run, ascending."""
    launch: Int64s
    """``ext_launches.id`` of each run."""

    @classmethod
    def of(cls, con: sqlite3.Connection) -> LaunchRuns:
        """Read from one of our databases."""
        return cls(*integers(con, "SELECT kernel_id, launch_id FROM ext_kernels ORDER BY kernel_id", 2))

    def of_kernels(self, kernels: Int64s) -> Int64s:
        """``ext_launches.id`` of each kernel id; 0 for a kernel before the first run, as in a damaged file."""
        place = np.searchsorted(self.first, kernels, side="right")
        return np.append(0, self.launch)[place]

    def lengths(self, kernels: int) -> tuple[Int64s, Int64s]:
        """The runs of the kernels with ids from 1 to ``kernels``: ``ext_launches.id`` and number of kernels of each."""
        first, launch = np.clip(self.first, 1, kernels + 1) - 1, self.launch
        if not len(first) or first[0]:
            first, launch = np.append(0, first), np.append(0, launch)
        return launch, np.diff(np.append(first, kernels))


def _dimensions(con: sqlite3.Connection, triples: Int32s) -> Int64s:
    """``read_only_grid_block.id`` of each triple."""
    ids = {(x, y, z): number for number, x, y, z in con.execute("SELECT id, x, y, z FROM read_only_grid_block")}
    return np.array([ids[x, y, z] for x, y, z in triples.tolist()], np.int64)


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
