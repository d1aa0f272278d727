"""Columns about occupancy, for tables that join a table of efficiency as ``rate``."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.table import Column

OCCUPANCY = Column("occupancy_fraction", "Occupancy", "fraction",
                   "Theoretical: warps that fit on a multiprocessor, of those that it can hold; mean by time.",
                   "rate.occupancy_fraction", nullable=True)  # fmt: skip

ACHIEVED_OCCUPANCY = Column("achieved_fraction", "Achieved Occupancy", "fraction",
                            "Warps that were resident, of those that the GPU can hold: measured by counters, else "
                            "estimated by the profiler from the number of blocks; mean by time.",
                            "rate.achieved_fraction", nullable=True)  # fmt: skip

WAVES = Column("waves", "Waves", "number", "How often a launch fills the GPU with blocks; mean by time.", "rate.waves",
               nullable=True)  # fmt: skip

TAIL = Column("tail_fraction", "Tail", "fraction",
              "Places for blocks that stay empty in the last wave, of those of all waves; mean by time.",
              "rate.tail_fraction", nullable=True)  # fmt: skip
