"""What the peak of memory consists of on both sides of a comparison."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.comparing.side import Side


class HeldRow(msgspec.Struct, frozen=True):
    """A category of memory at the peaks of A and B."""

    category: str
    a_bytes: int
    b_bytes: int

    @property
    def change_bytes(self) -> int:
        """B less A."""
        return self.b_bytes - self.a_bytes


def memory_rows(a: Side, b: Side) -> list[HeldRow]:
    """The categories at the peaks, the largest change first; they add up to the peaks and to their change.

    None where a recording does not tell its memory. Of several recordings, the one with the highest peak counts.
    """
    highest = [_highest(side) for side in (a, b)]
    if highest[0] is None or highest[1] is None:
        return []
    of_a, of_b = (recording.memory_at_peak for recording in highest if recording is not None)
    rows = [HeldRow(name, of_a.get(name, 0), of_b.get(name, 0)) for name in {**of_a, **of_b}]
    return sorted(rows, key=lambda row: (-abs(row.change_bytes), -row.b_bytes))


def _highest(side: Side) -> Recording | None:
    if any(recording.memory_peak_bytes is None for recording in side.recordings):
        return None
    return max(side.recordings, key=lambda recording: recording.memory_peak_bytes or 0)
