"""Which of millions of kernels pass a condition: a flag for each place between the first and the last that does.

Kernels lie by op, so those of one op are a small part of all.
"""

from __future__ import annotations

import mmap
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Places: TypeAlias = "npt.NDArray[np.int64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"

_FEW_FLAGS = 1 << 16
"""Are no trouble for the memory of a thread."""


class Chosen(msgspec.Struct, frozen=True):
    """Places that pass; none before ``begin`` does, nor behind the last flag."""

    begin: int
    flags: Flags

    @property
    def end(self) -> int:
        """The first place behind the flags."""
        return self.begin + len(self.flags)

    def count(self) -> int:
        """How many pass."""
        return int(np.count_nonzero(self.flags))

    def of(self, places: Places) -> Places:
        """Those of some places that pass."""
        places = self._flagged(places)
        return places[self.flags[places - self.begin if self.begin else places]]

    def count_of(self, places: Places) -> int:
        """How many of some places pass."""
        places = self._flagged(places)
        return int(np.count_nonzero(self.flags[places - self.begin if self.begin else places]))

    def _flagged(self, places: Places) -> Places:
        """Those of some places that have a flag."""
        if not len(places) or (places.min() >= self.begin and places.max() < self.end):
            return places
        return places[(places >= self.begin) & (places < self.end)]

    def both(self, other: Chosen) -> Chosen:
        """Those that pass here and there."""
        begin, end = max(self.begin, other.begin), min(self.end, other.end)
        flags = no_flags(max(end - begin, 0))
        if begin < end:
            np.logical_and(
                self.flags[begin - self.begin : end - self.begin],
                other.flags[begin - other.begin : end - other.begin],
                out=flags,
            )
        return Chosen(begin, flags)


def no_flags(count: int) -> Flags:
    """A flag for each of so many places; millions in memory that goes back to the system: every thread of a server
    would keep as much of what it frees."""
    if count <= _FEW_FLAGS:
        return np.zeros(count, np.bool_)
    # Given at once, where the system can: page by page, as it is written, takes longer than all that is done with it.
    if hasattr(mmap, "MAP_POPULATE"):
        memory = mmap.mmap(-1, count, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    else:
        memory = mmap.mmap(-1, count)
    return np.frombuffer(memory, np.bool_, count)
