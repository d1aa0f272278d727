"""What follows from raw events and from where the ops lie: who launched what, how long everything took.

Where an op begins and ends, and what it is called, are questions of naming; they are taken from the database, and each
of these spans has to be one of the source. Everything else is computed here: the launch of a piece of work is the call
with its correlation, its op the innermost one on the thread of the call in which that begins; work and calls in no op
are on their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.aggregation.oracle import union_length
from tests.exactness.raw import Call, Launch, Raw, Span, Thread, Work


@dataclass
class Instance:
    """A call of an op: what the database says, and what happened in it."""

    op: int
    thread: Thread
    span: Span
    calls: list[Call] = field(default_factory=list)
    kernels: list[Work] = field(default_factory=list)
    memory: list[Work] = field(default_factory=list)
    graphs: list[Work] = field(default_factory=list)

    def times(self) -> tuple[int, int, int, int]:
        """CPU, GPU, CPU overhead and GPU idle time."""
        work = [item.span for item in self.kernels + self.memory + self.graphs]
        cpu, gpu = self.span[1] - self.span[0], union_length(work)
        api = union_length(call.span for call in self.calls)
        idle = max(stop for _, stop in work) - min(start for start, _ in work) - gpu if work else 0
        return cpu, gpu, max(cpu - api, 0), idle


def launches(raw: Raw) -> dict[Launch, Call]:
    """The call with each correlation that any work has; of several the first."""
    of_work = {work.launch for work in raw.kernels + raw.memory + raw.graphs}
    result: dict[Launch, Call] = {}
    for call in sorted(raw.calls, key=lambda call: call.span):
        if call.launch in of_work:
            result.setdefault(call.launch, call)
    return result


def attribute(raw: Raw, instances: list[Instance]) -> None:
    """Gives each instance its calls and its work."""
    owner = _owners(raw.calls, instances)
    launch = launches(raw)
    for call, instance in owner.items():
        instance.calls.append(call)
    for kind in ("kernels", "memory", "graphs"):
        for work in getattr(raw, kind):
            launched_by = launch.get(work.launch)
            if launched_by in owner:
                getattr(owner[launched_by], kind).append(work)


def _owners(calls: Iterable[Call], instances: list[Instance]) -> dict[Call, Instance]:
    """The innermost instance of its thread in which each call begins, by a walk through each thread."""
    of_thread: dict[Thread, list[tuple[int, int, int, Instance | Call]]] = defaultdict(list)
    for instance in instances:
        start, stop = instance.span
        of_thread[instance.thread].append((start, 0, -stop, instance))
    for call in calls:
        of_thread[call.thread].append((call.span[0], 1, 0, call))
    owner: dict[Call, Instance] = {}
    for rows in of_thread.values():
        open_: list[Instance] = []
        for time, _, _, item in sorted(rows, key=lambda row: row[:3]):
            while open_ and not (time < open_[-1].span[1] or open_[-1].span[0] == time == open_[-1].span[1]):
                open_.pop()
            if isinstance(item, Instance):
                open_.append(item)
            elif open_:
                owner[item] = open_[-1]
    return owner


def kernels_by_op(instances: list[Instance]) -> dict[int, Counter[tuple[Span, int]]]:
    """Span and device of the kernels of each op."""
    result: dict[int, Counter[tuple[Span, int]]] = defaultdict(Counter)
    for instance in instances:
        result[instance.op].update((work.span, work.device) for work in instance.kernels)
    return {op: kernels for op, kernels in result.items() if kernels}


def times_by_op(instances: list[Instance]) -> dict[int, tuple[int, ...]]:
    """Number of calls and the four times of each op, summed."""
    result: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for instance in instances:
        result[instance.op].append((1, *instance.times()))
    return {op: tuple(map(sum, zip(*rows, strict=True))) for op, rows in result.items()}
