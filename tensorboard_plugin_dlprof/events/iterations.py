"""Finds candidates for the iterations of a capture (event model, section 6), best first.

A candidate divides the time of the capture into disjoint intervals. Ranges that several threads mark in parallel (ranks
of one report, replicas of a model) are one iteration. If two iterations overlap (rounding, ranks that drift apart), the
earlier ends where the later starts. Time between the recorded ranges belongs to no iteration. The last candidate is
always the whole capture. DLProf starts it with the session, so it does for captures with DLProf's markers; otherwise it
starts with the first event, because a session may run for a minute before the recording begins, and that minute must
not count as GPU idle time.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, is_ascending, rows_by_value
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.annotation_names import Annotations, annotations_of, families_of, repeats_of
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.resources import loader_texts
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind, Ranges
from tensorboard_plugin_dlprof.events.trees import Flags
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

_KINDS = (RangeKind.ANNOTATION, RangeKind.SPAN)
"""Kinds of ranges whose names may make them iterations; the profiler's own steps always are."""

_MOST = 0.7
"""Fraction of the launches that must be inside ranges that merely repeat: a forward pass alone is no iteration."""

_ENDS_EARLY = 0.5
"""Fraction of the GPU's work below which ranges that merely repeat are no iterations, though they launch it: they end
before it, and what the GPU does between them would belong to none."""

_MOST_LOOKED_AT = 100_000
"""Pieces of GPU work of which is looked whether they are inside ranges; of more, as many evenly spaced ones."""

_MIN_REPEATS = 3
"""How often a range must repeat to be an iteration, if its name does not mention steps."""

_MOST_OFFERED = 20
"""Most candidates of one kind that are offered. A server that numbers the steps of each request has one per request."""

_ROUNDING = 1e-6
"""Tolerance for the rounding of sums of doubles, as a fraction."""

_STAGGERED = 0.25
"""Fraction of a range's length after which one of another thread, beginning within it, is not its replica but another
request; and fraction of such ranges from which they are requests of a server."""

_Candidates = list[IterationCandidate]
_Ranked = list[tuple[bool, int, IterationCandidate]]

_OPTIMIZER_STEP = Expression(r"Optimizer\.step\b", words=("optimizer.step",))

_HALF = 0.5
"""Fraction of the launches that must be inside numbered ranges: for these to be preferred to more numerous ones, and
for ranges whose name does not mention steps to be candidates at all."""


def find_iterations(capture: Capture, start_ns: int, end_ns: int) -> list[IterationCandidate]:
    """Find all candidates, best first; the last one is the whole capture.

    Args:
        start_ns: Where the whole capture starts: at 0, or at its first event.
        end_ns: Where it ends: at the end of the capture, or of its last op.
    """
    ranges = capture.ranges
    rows = np.flatnonzero(are_among(ranges.kind, _KINDS))
    annotations = annotations_of(capture, rows)
    families = families_of(annotations)
    launches = _Launches(capture, end_ns)
    steps, turns, warm_ups = _numbered(capture, rows, families, launches)
    repeated_steps, repeated = _repeated(capture, rows, annotations, families, launches)
    marked: list[IterationCandidate | None] = [
        IterationCandidate(each.source, each.label, each.values, each.start_ns, each.stop_ns)
        for each in capture.iterations
    ]
    result = marked or [
        *_profiler_steps(capture, np.flatnonzero(ranges.kind == RangeKind.ITERATION)),
        *(*steps, *repeated_steps, *turns, *repeated, *_warmed_up(capture, rows, warm_ups, launches), *warm_ups),
        *_optimizer_steps(capture, start_ns),
        *_data_loader(capture, end_ns),
    ]
    whole = _candidate("whole_capture", "Whole recording", np.array([start_ns]), np.array([end_ns]), None)
    return [candidate for candidate in result if candidate is not None] + ([whole] if whole else [_moment(start_ns)])


def first_event_ns(capture: Capture) -> int:
    """Start of the first range, call or piece of device work; 0 if there is none."""
    columns = (capture.ranges.start_ns, capture.calls.start_ns, capture.work.start_ns)
    return min((int(starts.min()) for starts in columns if len(starts)), default=0)


def with_gpu_work(capture: Capture, candidates: list[IterationCandidate]) -> list[IterationCandidate]:
    """The candidates, with the whole capture from the first to the last GPU work, if there is any.

    What the host does before is set-up, and what it does behind is no matter of the GPU. The ops that it calls before
    belong to the capture all the same (``aggregation.selection.iteration_of``).
    """
    work = capture.work
    if not len(work.start_ns):
        return candidates
    *others, whole = candidates
    start, stop = np.array([work.start_ns.min()]), np.array([work.end_ns.max()])
    if stop[0] <= start[0]:
        return candidates
    return [*others, IterationCandidate(whole.source, whole.label, whole.values, start, stop)]


def counter_names(candidates: list[IterationCandidate]) -> frozenset[str]:
    """Names, without numbers, of ranges that only mark iterations and are therefore left out of op paths."""
    marks = [item for item in candidates if item.source in ("profiler_step", "numbered_range")]
    if candidates[0].source == "repeated_range":
        marks.append(candidates[0])
    labels = (item.label.removesuffix("#N").removesuffix(" N") for item in marks)
    return frozenset(names.split_number(names.without_counters(label))[0] for label in labels)


def _moment(time_ns: int) -> IterationCandidate:
    """The whole capture as an iteration of zero length, for captures without events or with all at the same time."""
    time = np.array([time_ns], np.int64)
    return IterationCandidate("whole_capture", "Whole recording", np.zeros(1, np.int64), time, time)


def _candidate(
    source: str, label: str, start: Int64s, end: Int64s, numbers: Int64s | None
) -> IterationCandidate | None:
    """Make the intervals disjoint and sort them by start; None if all of them have zero length.

    ``numbers`` become the iterations' values if they ascend; otherwise iterations are numbered from 0.
    """
    order = np.lexsort((end, start))
    start, end = start[order], end[order]
    start, first = np.unique(start, return_index=True)
    last = np.append(first[1:], len(end)) - 1
    numbers = None if numbers is None else numbers[order][last]
    stop = np.minimum(end[last], np.append(start[1:], np.iinfo(np.int64).max))
    retained = stop > start
    if not retained.any():
        return None
    values = np.arange(np.count_nonzero(retained)) if numbers is None else numbers[retained]
    if (np.diff(values) <= 0).any():
        values = np.arange(len(values))
    return IterationCandidate(source, label, values.astype(np.int64), start[retained], stop[retained])


def _of_all_threads(
    capture: Capture, source: str, label: str, rows: Int64s, numbers: Int64s | None
) -> IterationCandidate | None:
    """A candidate of ranges on any threads.

    Ranges that other threads begin before the middle of a range run in parallel with it, so they form one iteration,
    with the number of the first.
    """
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
    """A candidate of numbered ranges. Ranges of equal number in several processes (ranks) form one iteration."""
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
    """Candidates of ranges whose names differ only in a trailing number, in three lists: ranges whose name mentions
    steps, other ranges that contain half of the work, and warm-up."""
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
        share = launches.share(candidate)
        is_little = share < _HALF
        are_requests = not is_step and _overlap_as_requests(capture, rows[places])
        if share and not are_requests and (is_step or not is_little):
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
    """Candidates of repeated ranges that contain most of the work, in two lists.

    The first has ranges whose name mentions steps, which may differ in numbers (``step[DECODE bs=32]``), the second
    other ranges of equal names.
    """
    ranges = capture.ranges
    group_of_text = np.full(len(capture.strings), -1, np.int32)
    group_of_text[annotations.texts], labels = repeats_of(annotations, families)
    rows = rows[group_of_text[ranges.name[rows]] >= 0]
    rows = rows[launches.are_enough(ranges, rows, group_of_text[ranges.name[rows]])]
    result: tuple[_Ranked, _Ranked] = ([], [])
    for group, places in rows_by_value(group_of_text[ranges.name[rows]]):
        name, members = labels[group], rows[places]
        candidate = _of_all_threads(capture, "repeated_range", name, members, None)
        if candidate is None or len(candidate.values) < 2:
            continue
        count, steps = len(candidate.values), names.mentions_steps(name)
        stacked = count < len(members) / len(distinct_values(ranges.thread[members]))
        stacked = stacked or _overlap_as_requests(capture, members) or _are_layers(capture, members, steps)
        if stacked or not (steps or count >= _MIN_REPEATS) or launches.share(candidate) < _MOST:
            continue
        if _work_inside(capture, candidate) >= _ENDS_EARLY:
            # Batches come before the epochs around them, other ranges before the parts of the model inside them.
            result[not steps].append((False, -count if steps else count, candidate))
    return _in_order(result[0]), _in_order(result[1])


def _warmed_up(capture: Capture, rows: Int64s, warm_ups: _Candidates, launches: _Launches) -> _Candidates:
    """Candidates of what each step of a warm-up does once and the program repeats after it, as most of what it does
    there: a pass that is measured, in whatever ranges all of it is."""
    if not warm_ups:
        return []
    warm_up, ranges = warm_ups[0], capture.ranges
    step = np.searchsorted(warm_up.start_ns, ranges.start_ns[rows], side="right") - 1
    later = rows[ranges.start_ns[rows] >= warm_up.stop_ns[-1]]
    inside = (step >= 0) & (ranges.end_ns[rows] <= warm_up.stop_ns[step])
    later_of = {name: later[places] for name, places in rows_by_value(ranges.name[later])}
    result: _Ranked = []
    for name, places in rows_by_value(ranges.name[rows[inside]]):
        members, steps = later_of.get(name, later[:0]), step[inside][places]
        if len(members) < _MIN_REPEATS or not len(steps) == len(distinct_values(steps)) == len(warm_up.values):
            continue
        candidate = _of_all_threads(capture, "repeated_range", capture.strings[name], members, None)
        if candidate is not None and launches.share(candidate, int(warm_up.stop_ns[-1])) >= _MOST:
            result.append((False, -len(candidate.values), candidate))
    return _in_order(result)


def _work_inside(capture: Capture, candidate: IterationCandidate) -> float:
    """Fraction of the time of GPU work that is within iterations; 1 if there is none."""
    work = capture.work
    some = slice(None, None, -(-len(work.start_ns) // _MOST_LOOKED_AT) or 1)
    start, end = work.start_ns[some], work.end_ns[some]
    length = candidate.stop_ns - candidate.start_ns
    edge = np.column_stack((candidate.start_ns, candidate.stop_ns)).ravel()
    before = np.column_stack((np.cumsum(length) - length, np.cumsum(length))).ravel()
    whole = float((end - start).sum())
    return float((np.interp(end, edge, before) - np.interp(start, edge, before)).sum()) / whole if whole else 1.0


def _overlap_as_requests(capture: Capture, rows: Int64s) -> bool:
    """Whether ranges overlap on several threads of a process, one beginning while another is well under way: requests
    of a server. Replicas of a model begin together."""
    ranges = capture.ranges
    process = np.array([thread.process_id for thread in capture.threads], np.int64)[ranges.thread[rows]]
    order = np.lexsort((ranges.start_ns[rows], process))
    rows, process = rows[order], process[order]
    start, end = ranges.start_ns[rows], ranges.end_ns[rows]
    other = (process[1:] == process[:-1]) & (ranges.thread[rows[1:]] != ranges.thread[rows[:-1]])
    begun = start[1:] - start[:-1]
    staggered = other & (start[1:] < end[:-1]) & (begun > _STAGGERED * (end[:-1] - start[:-1]))
    return bool(np.count_nonzero(staggered) > _STAGGERED * len(rows))


def _are_layers(capture: Capture, rows: Int64s, steps: bool) -> bool:
    """Whether ranges are parts of one pass: within a single call of a module, or, unless they mention ``steps``, a
    single range of the user's, which holds them all."""
    ranges = capture.ranges
    threads = distinct_values(ranges.thread[rows])
    if len(threads) > 1:
        return False
    kinds = (RangeKind.MODULE,) if steps else (RangeKind.MODULE, RangeKind.ANNOTATION)
    around = (ranges.thread == threads[0]) & are_among(ranges.kind, kinds)
    around &= (ranges.start_ns <= ranges.start_ns[rows].min()) & (ranges.end_ns >= ranges.end_ns[rows].max())
    around[rows] = False
    return bool(around.any())


def _in_order(values: _Ranked) -> _Candidates:
    return [candidate for _, _, candidate in sorted(values, key=lambda item: item[:2])[:_MOST_OFFERED]]


class _Launches:
    """Start times of the calls with a correlation, which are mostly launches. They are sorted only once, because
    thousands of names may be tested against them."""

    def __init__(self, capture: Capture, end_ns: int) -> None:
        self._start_ns = capture.calls.start_ns[capture.calls.correlation > 0]
        if not is_ascending(self._start_ns):
            self._start_ns.sort()
        self._end_ns = end_ns

    def are_enough(self, ranges: Ranges, rows: Int64s, group: Int32s) -> Flags:
        """Whether each range belongs to a group that may contain enough launches, by the sum over its ranges.

        Ranges of a group may overlap, so this is an upper bound. It spares most of up to a hundred thousand groups the
        exact but slow check.
        """
        start, end = ranges.start_ns[rows], ranges.end_ns[rows]
        if len(self._start_ns):
            held = np.searchsorted(self._start_ns, end) - np.searchsorted(self._start_ns, start)
            whole = len(self._start_ns)
        else:
            held, whole = end - start, max(self._end_ns, 1)
        held_by_group = np.bincount(group, weights=np.maximum(held, 0))
        enough: Flags = (np.bincount(group) > 1) & (held_by_group >= (_MOST - _ROUNDING) * whole)
        return enough[group]

    def share(self, candidate: IterationCandidate, from_ns: int = 0) -> float:
        """Fraction of the launches from a time on that begin in an iteration, all of which begin later; fraction of the
        time if there are no launches."""
        if len(self._start_ns):
            begun = np.searchsorted(self._start_ns, candidate.stop_ns) - np.searchsorted(
                self._start_ns, candidate.start_ns
            )
            return float(begun.sum() / max(len(self._start_ns) - np.searchsorted(self._start_ns, from_ns), 1))
        return float((candidate.stop_ns - candidate.start_ns).sum()) / max(self._end_ns - from_ns, 1)


def _optimizer_steps(capture: Capture, start_ns: int) -> list[IterationCandidate | None]:
    """Each iteration ends where an optimizer step ends."""
    texts = distinct_values(capture.ranges.name)
    steps = [bool(_OPTIMIZER_STEP.match(name)) for name in capture.strings.some(texts)]
    rows, label = _of_one_thread(capture, texts[np.array(steps, np.bool_)])
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
    """The most frequent ranges of one name on one thread, and that name.

    Only one name and thread, because several optimizers or ranks would cut each iteration into pieces.

    Args:
        texts: Ids of the names to consider.
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
