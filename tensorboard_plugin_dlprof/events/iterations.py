"""Ways to cut a capture into iterations (event model, section 6), best first.

Iterations are intervals of the process's time. Where two overlap (rounding, ranks that run apart)
the earlier ends where the later starts. Intervals stay as recorded: what lies between them belongs
to no iteration. The last way is always there: the whole capture, from 0 to the end.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.resources import DATA_LOADER
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

_KINDS = (RangeKind.ANNOTATION, RangeKind.SPAN, RangeKind.ITERATION)

_STEP_WORD = re.compile(
    r"(?:.*[^a-z])?(?:profiler)?(?:(?:mini|global|train(?:ing)?|micro|val(?:id(?:ation)?)?|eval|decode|generat\w*|sampl\w*|"
    r"inference|denois\w*|forward)?[\s_.\-:/#]*(?:steps?|batch(?:es)?|iter(?:ation)?s?|epochs?|it))[\s_\-.:/#\[(]*\Z",
    re.IGNORECASE,
)
_STEP_CAMEL = re.compile(r".*(?:Step|Batch|Iter|Iteration)\Z")
_PART_WORD = re.compile(
    r".*(?:layer|block|stage|head|expert|rank|gpu|device|bucket|worker|stream|chunk|micro)", re.IGNORECASE
)
_COVERED_FRACTION = 0.5
_MIN_REPEATS = 3


def find_iterations(capture: Capture, end_ns: int) -> list[IterationCandidate]:
    """All candidates, best first; the last one is the whole capture.

    Args:
        capture: The events.
        end_ns: End of the capture, or of its last op.
    """
    ranges = capture.ranges
    rows = np.flatnonzero(np.isin(ranges.kind, _KINDS))
    families = _families(capture, rows)
    found = [
        *_profiler_steps(capture, np.flatnonzero(ranges.kind == RangeKind.ITERATION)),
        *_numbered(capture, families),
        *_repeated(capture, rows, families, end_ns),
        *_optimizer_steps(capture, end_ns),
        *_data_loader(capture, end_ns),
    ]
    whole = _candidate("whole_capture", "Whole capture", np.zeros(1, np.int64), np.array([end_ns]), None)
    return [candidate for candidate in found if candidate is not None] + ([whole] if whole else [_empty_capture()])


def counter_names(candidates: list[IterationCandidate]) -> frozenset[str]:
    """Bare names of ranges that only mark iterations, and so are no part of a path."""
    marks = ("profiler_step", "numbered_range", "repeated_range")
    return frozenset(
        names.split_number(names.without_counters(item.label.removesuffix("#N").removesuffix(" N")))[0]
        for item in candidates
        if item.source in marks
    )


def _empty_capture() -> IterationCandidate:
    zero = np.zeros(1, np.int64)
    return IterationCandidate("whole_capture", "Whole capture", zero, zero, zero)


def _candidate(
    source: str, label: str, start: Int64s, end: Int64s, numbers: Int64s | None
) -> IterationCandidate | None:
    """Disjoint intervals in order of time; None where none has a length."""
    order = np.lexsort((end, start))
    start, end = start[order], end[order]
    start, first = np.unique(start, return_index=True)
    last = np.append(first[1:], len(end)) - 1
    numbers = None if numbers is None else numbers[order][last]
    stop = np.minimum(end[last], np.append(start[1:], np.iinfo(np.int64).max))
    kept = stop > start
    if not kept.any():
        return None
    values = np.arange(np.count_nonzero(kept)) if numbers is None else numbers[kept]
    if (np.diff(values) <= 0).any():
        values = np.arange(len(values))
    return IterationCandidate(source, label, values.astype(np.int64), start[kept], stop[kept])


def _merged(capture: Capture, source: str, label: str, rows: Int64s, numbers: Int64s) -> IterationCandidate | None:
    """Ranges with one number are one iteration, seen by several ranks; on one process each is its own."""
    ranges = capture.ranges
    process = np.array([thread.process_id for thread in capture.threads], np.int64)[ranges.thread[rows]]
    pairs = np.unique(np.stack((process, numbers)), axis=1)
    if pairs.shape[1] < len(rows):
        return _candidate(source, label, ranges.start_ns[rows], ranges.end_ns[rows], numbers)
    distinct, inverse = np.unique(numbers, return_inverse=True)
    start = np.full(len(distinct), np.iinfo(np.int64).max)
    end = np.zeros(len(distinct), np.int64)
    np.minimum.at(start, inverse, ranges.start_ns[rows])
    np.maximum.at(end, inverse, ranges.end_ns[rows])
    return _candidate(source, label, start, end, distinct)


def _profiler_steps(capture: Capture, rows: Int64s) -> list[IterationCandidate | None]:
    if not len(rows):
        return []
    numbers = np.array(
        [names.split_number(capture.strings[i])[1] for i in capture.ranges.name[rows].tolist()], np.int64
    )
    base = names.split_number(capture.strings[int(capture.ranges.name[rows[0]])])[0]
    return [_merged(capture, "profiler_step", f"{base}#N", rows, numbers)]


def _families(capture: Capture, rows: Int64s) -> dict[str, dict[int, int]]:
    """Bases of names that end in a number -> {text id: number}."""
    families: dict[str, dict[int, int]] = {}
    for text in np.unique(capture.ranges.name[rows]).tolist():
        name = names.without_arguments(capture.strings[text])
        base, number = names.split_number(name)
        if number >= 0 and base and names.role(RangeKind.ANNOTATION, name) == Role.ANNOTATION:
            families.setdefault(base, {})[text] = number
    return families


def _numbered(capture: Capture, families: dict[str, dict[int, int]]) -> list[IterationCandidate | None]:
    """Ranges that differ in a trailing number only, and whose name speaks of steps."""
    found: list[tuple[int, IterationCandidate]] = []
    for base, numbers in families.items():
        if not is_step_name(base) or len(numbers) < 2:
            continue
        rows = np.flatnonzero(np.isin(capture.ranges.name, list(numbers)) & np.isin(capture.ranges.kind, _KINDS))
        values = np.array([numbers[text] for text in capture.ranges.name[rows].tolist()], np.int64)
        candidate = _merged(capture, "numbered_range", f"{base} N", rows, values)
        if candidate is not None and len(candidate.values) > 1:
            found.append((len(candidate.values), candidate))
    return [candidate for _, candidate in sorted(found, key=lambda item: -item[0])]


def is_step_name(base: str) -> bool:
    """Whether a numbered name counts time (``step``, ``Batch``, ``iter``), not parts of a model (``layer``)."""
    if _PART_WORD.match(base):
        return False
    return _STEP_WORD.match(base) is not None or _STEP_CAMEL.match(base) is not None


def _repeated(
    capture: Capture, rows: Int64s, families: dict[str, dict[int, int]], end_ns: int
) -> list[IterationCandidate | None]:
    """Ranges of one name that repeat on one thread and cover most of the capture."""
    ranges = capture.ranges
    numbered = {text for family in families.values() for text in family}
    counts = Counter(ranges.name[rows].tolist())
    found: list[tuple[bool, int, IterationCandidate]] = []
    busy = _busy_ns(capture, end_ns)
    for text, count in counts.items():
        name = names.without_arguments(capture.strings[text])
        if count < 2 or text in numbered or names.role(RangeKind.ANNOTATION, name) != Role.ANNOTATION:
            continue
        if DATA_LOADER.match(name):
            continue
        members = rows[ranges.name[rows] == text]
        candidate = _candidate("repeated_range", name, ranges.start_ns[members], ranges.end_ns[members], None)
        if candidate is None or len(candidate.values) < 2:
            continue
        covered = int((candidate.stop_ns - candidate.start_ns).sum())
        nested = len(candidate.values) < count / max(1, len(np.unique(ranges.thread[members])))
        if nested or covered < _COVERED_FRACTION * busy:
            continue
        if count < _MIN_REPEATS and not is_step_name(name):
            continue
        found.append((is_step_name(name), covered, candidate))
    return [candidate for _, _, candidate in sorted(found, key=lambda item: (not item[0], -item[1]))]


def _busy_ns(capture: Capture, end_ns: int) -> int:
    """From the first to the last host event: what repeated ranges can cover."""
    starts = [int(table.start_ns.min()) for table in (capture.ranges, capture.calls) if len(table.start_ns)]
    ends = [int(table.end_ns.max()) for table in (capture.ranges, capture.calls) if len(table.end_ns)]
    return max(ends) - min(starts) if starts else end_ns


def _optimizer_steps(capture: Capture, end_ns: int) -> list[IterationCandidate | None]:
    """Each iteration ends where an optimizer step ends."""
    return [_until(capture, "optimizer_step", re.compile(r"Optimizer\.step\b"), end_ns, ends=True)]


def _data_loader(capture: Capture, end_ns: int) -> list[IterationCandidate | None]:
    """Each iteration begins where a batch is fetched."""
    return [_until(capture, "data_loader", DATA_LOADER, end_ns, ends=False)]


def _until(
    capture: Capture, source: str, pattern: re.Pattern[str], end_ns: int, ends: bool
) -> IterationCandidate | None:
    ranges = capture.ranges
    texts = [i for i in np.unique(ranges.name).tolist() if pattern.match(capture.strings[i])]
    usable = (RangeKind.ANNOTATION, RangeKind.OP, RangeKind.SPAN)
    rows = np.flatnonzero(np.isin(ranges.name, texts) & np.isin(ranges.kind, usable))
    if len(rows) < 2:
        return None
    # One thread: several optimizers or ranks would cut each iteration to pieces.
    name, thread = Counter(zip(ranges.name[rows].tolist(), ranges.thread[rows].tolist(), strict=True)).most_common(1)[
        0
    ][0]
    rows = rows[(ranges.name[rows] == name) & (ranges.thread[rows] == thread)]
    label = names.without_arguments(capture.strings[name])
    if ends:
        stop = np.unique(ranges.end_ns[rows])
        return _candidate(source, label, np.append(np.zeros(1, np.int64), stop[:-1]), stop, None)
    start = np.unique(ranges.start_ns[rows])
    return _candidate(source, label, start, np.append(start[1:], end_ns), None)
