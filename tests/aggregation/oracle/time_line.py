"""Spans of time: how much they cover, and what fills a window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

TENSOR_CORE, OTHER_KERNEL, MEMORY, LOADER, IO, CPU, OTHER = range(7)
"""The seven parts of the wall time; where several are active, the first has all of it."""

Span = tuple[int, int]


def union_length(spans: Iterable[tuple[int, int]]) -> int:
    """Time covered by at least one span."""
    total, reached = 0, None
    for start, stop in sorted(spans):
        if stop <= start:
            continue
        if reached is None or start > reached:
            total += stop - start
            reached = stop
        elif stop > reached:
            total += stop - reached
            reached = stop
    return total


def walk(spans: dict[int, list[tuple[int, int]]], start: int, stop: int) -> list[int]:
    """The seven parts of the time from ``start`` to ``stop``, given the spans of the first six."""
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for kind, mine in spans.items():
        for begin, end in mine:
            begin, end = max(begin, start), min(end, stop)
            if begin < end:
                changes[begin].append((kind, 1))
                changes[end].append((kind, -1))
    parts, active, before = [0] * 7, [0] * 6, start
    for time in sorted({*changes, stop}):
        kind = next((kind for kind in range(6) if active[kind]), OTHER)
        parts[kind] += time - before
        before = time
        for changed, by in changes[time]:
            active[changed] += by
    return parts


def length(span: tuple[int, int]) -> int:
    """From start to end."""
    return span[1] - span[0]
