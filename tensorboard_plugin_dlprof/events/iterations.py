"""Ways to cut a capture into iterations (event model, section 6), best first.

Iterations are intervals of the process's time. What several threads mark at once (ranks of one report,
replicas of a model) is one of them. Where two overlap (rounding, ranks that run apart) the earlier ends
where the later starts. Intervals stay as recorded: what lies between them belongs
to no iteration. The last way is always there: the whole capture. DLProf starts it with the session, so
a capture with its markers does; elsewhere it starts with the first event, since a capture that began
a minute into the session did not watch an idle GPU for that minute.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tensorboard_plugin_dlprof.distinct import are_among, distinct_values, rows_by_value
from tensorboard_plugin_dlprof.events import many_names, names
from tensorboard_plugin_dlprof.events.annotation_names import Annotations, annotations_of, families_of, repeats_of
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.many_names import ManyNames
from tensorboard_plugin_dlprof.events.resources import loader_texts
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind, Ranges
from tensorboard_plugin_dlprof.events.trees import Flags
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.ordering import are_ascending
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

_KINDS = (RangeKind.ANNOTATION, RangeKind.SPAN)
"""Kinds of ranges that may be iterations by their names; the profiler's own steps are iterations in any case."""

_MOST = 0.7
"""Share of the launches that must be inside ranges that merely repeat: a forward pass alone is no iteration."""

_MIN_REPEATS = 3
"""How often a range must repeat to be an iteration, if its name does not mention steps."""

_MOST_OFFERED = 20
"""Candidates of one kind that are offered. A server that numbers the steps of each request has one per request."""

_ROUNDING = 1e-6

_Candidates = list[IterationCandidate]
_Ranked = list[tuple[bool, int, IterationCandidate]]

_OPTIMIZER_STEP = Expression(r"Optimizer\.step\b")

_HALF = 0.5
"""Share of the launches that must be inside numbered ranges: to be preferred to more numerous ones, and, if their name
does not mention steps, to be candidates at all."""


def find_iterations(capture: Capture, start_ns: int, end_ns: int) -> list[IterationCandidate]:
    """All candidates, best first; the last one is the whole capture.

    Args:
        capture: The events.
        start_ns: Start of the capture, or of its first event.
        end_ns: End of the capture, or of its last op.
    """
    ranges = capture.ranges
    rows = np.flatnonzero(are_among(ranges.kind, _KINDS))
    annotations = annotations_of(capture, rows)
    families = families_of(annotations)
    launches = _Launches(capture, end_ns)
    steps, turns, warm_ups = _numbered(capture, rows, families, launches)
    repeated_steps, repeated = _repeated(capture, rows, annotations, families, launches)
    found = [
        *_profiler_steps(capture, np.flatnonzero(ranges.kind == RangeKind.ITERATION)),
        *(*steps, *repeated_steps, *turns, *repeated, *warm_ups),
        *_optimizer_steps(capture, start_ns),
        *_data_loader(capture, end_ns),
    ]
    whole = _candidate("whole_capture", "Whole capture", np.array([start_ns]), np.array([end_ns]), None)
    return [candidate for candidate in found if candidate is not None] + ([whole] if whole else [_moment(start_ns)])


def first_event_ns(capture: Capture) -> int:
    """When the first range, call or device work starts; 0 for a capture without any."""
    columns = (capture.ranges.start_ns, capture.calls.start_ns, capture.work.start_ns)
    return min((int(starts.min()) for starts in columns if len(starts)), default=0)


def counter_names(candidates: list[IterationCandidate]) -> frozenset[str]:
    """Bare names of ranges that only mark iterations, and so are no part of a path."""
    marks = [item for item in candidates if item.source in ("profiler_step", "numbered_range")]
    if candidates[0].source == "repeated_range":
        marks.append(candidates[0])
    labels = (item.label.removesuffix("#N").removesuffix(" N") for item in marks)
    return frozenset(names.split_number(names.without_counters(label))[0] for label in labels)


def _moment(time_ns: int) -> IterationCandidate:
    """The whole capture if it has no length, because nothing happened or all at the same time."""
    time = np.array([time_ns], np.int64)
    return IterationCandidate("whole_capture", "Whole capture", np.zeros(1, np.int64), time, time)


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


def _of_all_threads(
    capture: Capture, source: str, label: str, rows: Int64s, numbers: Int64s | None
) -> IterationCandidate | None:
    """Joins each range with those that other threads begin before its middle, since these run in parallel, not in turn.
    The iteration gets the number of the first."""
    ranges = capture.ranges
    order = np.argsort(ranges.start_ns[rows], kind="stable")
    start, end = ranges.start_ns[rows][order], ranges.end_ns[rows][order]
    overlap = (np.maximum.accumulate(end)[:-1] > start[1:]).any()
    if overlap and len(distinct_values(ranges.thread[rows])) > 1:
        middle = start + (end - start) // 2
        following = np.maximum(np.searchsorted(start, middle), np.arange(1, len(start) + 1)).tolist()
        firsts = [0]
        while (row := following[firsts[-1]]) < len(following):
            firsts.append(row)
        start, end, order = start[firsts], np.maximum.reduceat(end, firsts), order[firsts]
    return _candidate(source, label, start, end, None if numbers is None else numbers[order])


def _merged(capture: Capture, source: str, label: str, rows: Int64s, numbers: Int64s) -> IterationCandidate | None:
    """Joins ranges of the same number in several processes, which are ranks in the same iteration."""
    ranges = capture.ranges
    process = np.array([thread.process_id for thread in capture.threads], np.int64)[ranges.thread[rows]]
    if len(distinct_values(combine(process, numbers))) < len(rows):
        return _of_all_threads(capture, source, label, rows, numbers)
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


def _numbered(
    capture: Capture, rows: Int64s, families: dict[str, dict[int, int]], launches: _Launches
) -> tuple[_Candidates, _Candidates, _Candidates]:
    """Ranges that differ only in a trailing number, in three lists: those whose name mentions steps, others that hold
    half of the work, and warm-up."""
    steps: _Ranked = []
    turns: _Ranked = []
    warm_ups: _Ranked = []
    counting = [
        (base, is_step)
        for base, numbers in families.items()
        if len(numbers) > 1 and ((is_step := names.counts_steps(base)) or names.counts_turns(base))
    ]
    family_of_text = np.full(len(capture.strings), -1, np.int32)
    number_of_text = np.zeros(len(capture.strings), np.int64)
    for family, (base, _) in enumerate(counting):
        texts = list(families[base])
        family_of_text[texts], number_of_text[texts] = family, list(families[base].values())
    text = capture.ranges.name[rows]
    for family, places in rows_by_value(family_of_text[text]):
        if family < 0:
            continue
        base, is_step = counting[family]
        candidate = _merged(capture, "numbered_range", f"{base} N", rows[places], number_of_text[text[places]])
        if candidate is None or len(candidate.values) < 2:
            continue
        is_little = launches.share(candidate) < _HALF
        if is_step or not is_little:
            kind = warm_ups if names.is_warm_up(base) else steps if is_step else turns
            kind.append((is_little, -len(candidate.values), candidate))
    return _in_order(steps), _in_order(turns), _in_order(warm_ups)


def _repeated(
    capture: Capture,
    rows: Int64s,
    annotations: Annotations,
    families: dict[str, dict[int, int]],
    launches: _Launches,
) -> tuple[_Candidates, _Candidates]:
    """Ranges that repeat and hold most of the work, in two lists: first those whose name mentions steps, which may
    differ in numbers (``step[DECODE bs=32]``), then others of equal names."""
    ranges = capture.ranges
    group_of_text = np.full(len(capture.strings), -1, np.int32)
    group_of_text[annotations.texts], labels = repeats_of(annotations, families)
    rows = rows[group_of_text[ranges.name[rows]] >= 0]
    rows = rows[launches.are_enough(ranges, rows, group_of_text[ranges.name[rows]])]
    found: tuple[_Ranked, _Ranked] = ([], [])
    for group, places in rows_by_value(group_of_text[ranges.name[rows]]):
        name, members = labels[group], rows[places]
        candidate = _of_all_threads(capture, "repeated_range", name, members, None)
        if candidate is None or len(candidate.values) < 2:
            continue
        count, steps = len(candidate.values), names.tells_of_steps(name)
        stacked = count < len(members) / len(distinct_values(ranges.thread[members]))
        if not stacked and (steps or count >= _MIN_REPEATS) and launches.share(candidate) >= _MOST:
            # Batches come before the epochs around them, other ranges before the parts of the model inside them.
            found[not steps].append((False, -count if steps else count, candidate))
    return _in_order(found[0]), _in_order(found[1])


def _in_order(found: _Ranked) -> _Candidates:
    return [candidate for _, _, candidate in sorted(found, key=lambda item: item[:2])[:_MOST_OFFERED]]


class _Launches:
    """When the correlated calls of a capture begin, the launches above all. Sorted once, as there may be thousands of
    names whose ranges could be iterations."""

    def __init__(self, capture: Capture, end_ns: int) -> None:
        self._start_ns = capture.calls.start_ns[capture.calls.correlation > 0]
        if not are_ascending(self._start_ns):
            self._start_ns.sort()
        self._end_ns = end_ns

    def are_enough(self, ranges: Ranges, rows: Int64s, group: Int32s) -> Flags:
        """Which ranges belong to a group that may hold enough launches, judged by the sum over its ranges.

        Nearly all of a hundred thousand names hold too few, so they need not be looked at one by one.
        """
        start, end = ranges.start_ns[rows], ranges.end_ns[rows]
        if len(self._start_ns):
            held = np.searchsorted(self._start_ns, end) - np.searchsorted(self._start_ns, start)
            whole = len(self._start_ns)
        else:
            held, whole = end - start, max(self._end_ns, 1)
        held_by_group = np.bincount(group, weights=np.maximum(held, 0))
        # Sums of doubles may be off by a rounding.
        enough: Flags = (np.bincount(group) > 1) & (held_by_group >= (_MOST - _ROUNDING) * whole)
        return enough[group]

    def share(self, candidate: IterationCandidate) -> float:
        """Share of the launches that begin in an iteration; share of the time if there are no launches."""
        if len(self._start_ns):
            begun = np.searchsorted(self._start_ns, candidate.stop_ns) - np.searchsorted(
                self._start_ns, candidate.start_ns
            )
            return float(begun.sum() / len(self._start_ns))
        return float((candidate.stop_ns - candidate.start_ns).sum()) / max(self._end_ns, 1)


def _optimizer_steps(capture: Capture, start_ns: int) -> list[IterationCandidate | None]:
    """Each iteration ends where an optimizer step ends."""
    texts = distinct_values(capture.ranges.name)
    many = ManyNames(capture.strings.some(texts))
    steps = many_names.matching(many, _OPTIMIZER_STEP, many.beginning_with((b"Optimizer.step",)))
    rows, label = _of_one_thread(capture, texts[steps])
    if len(rows) < 2:
        return []
    stop = distinct_values(capture.ranges.end_ns[rows])
    return [_candidate("optimizer_step", label, np.append(start_ns, stop[:-1]), stop, None)]


def _data_loader(capture: Capture, end_ns: int) -> list[IterationCandidate | None]:
    """Each iteration begins where a batch is fetched."""
    rows, label = _of_one_thread(capture, loader_texts(capture))
    if len(rows) < 2:
        return []
    start = distinct_values(capture.ranges.start_ns[rows])
    return [_candidate("data_loader", label, start, np.append(start[1:], end_ns), None)]


def _of_one_thread(capture: Capture, texts: Int64s) -> tuple[Int64s, str]:
    """The most frequent ranges of some names on one thread, and what they are called.

    Several optimizers or ranks would cut each iteration to pieces.
    """
    if not len(texts):
        return texts, ""
    ranges = capture.ranges
    usable = (RangeKind.ANNOTATION, RangeKind.OP, RangeKind.SPAN)
    rows = np.flatnonzero(are_among(ranges.name, texts.tolist()))
    rows = rows[are_among(ranges.kind[rows], usable)]
    pairs = Counter(zip(ranges.name[rows].tolist(), ranges.thread[rows].tolist(), strict=True))
    if not pairs:
        return rows, ""
    name, thread = pairs.most_common(1)[0][0]
    rows = rows[(ranges.name[rows] == name) & (ranges.thread[rows] == thread)]
    return rows, names.without_arguments(capture.strings[name])
