"""The named measurements on which rules decide. Each is computed when a rule first uses it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.absorbed import Float64s, launching_ns, limit_of, lost_shares
from tensorboard_plugin_dlprof.analysis.exposed import Late, find_late
from tensorboard_plugin_dlprof.analysis.program import Program
from tensorboard_plugin_dlprof.analysis.tables import Pool
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.vocabulary import LAYOUT_CHANGES, PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.group import are_among, begins_new, distinct_values, numbered, rows_by_value
from tensorboard_plugin_dlprof.columns.store import release_pages, spilled
from tensorboard_plugin_dlprof.diagnosis.activity import complete
from tensorboard_plugin_dlprof.diagnosis.answer import Diagnosis, Row, diagnose, host_bound, lead_in, rows_of
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.efficiency.tables import Efficiency, Int16s
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Op, Profile

_CONVOLUTION = Expression(r"conv(?!ert)", re.IGNORECASE)
"""Types of ops that convolve, forward or backward."""

_STEP = Expression(r"Optimizer\.step|(?:^|/)optimi[sz]er[ _.]?step(?:/|$)", re.IGNORECASE)


class Signals(Program):
    """Measurements of one aggregation. Times are totals over its iterations unless the name says ``iteration``."""

    def __init__(self, profile: Profile, aggregation: Aggregation, efficiency: Efficiency) -> None:
        super().__init__(profile, aggregation, efficiency)
        self.iterations = max(len(aggregation.iterations.iter_value), 1)
        self.wall_ns = aggregation.wall_ns
        self.spoken_of: Bools | None = None
        """The aggregated kernels that the rule at work speaks of."""

    @property
    def iteration_ns(self) -> int:
        """Mean length of an iteration, in nanoseconds."""
        return self.wall_ns // self.iterations

    @property
    def devices(self) -> int:
        """Number of GPUs in use."""
        return int(self.aggregation.devices.in_use.sum())

    @cached_property
    def active_ns(self) -> int:
        """Length of the iterations; without marked ones, from the first to the last kernel, because what comes before,
        such as copies that set the model up, happens once."""
        if self.marked:
            return self.wall_ns
        tables = (self.profile.kernels, self.profile.graphs)
        starts = [int(table.start_ns.min()) for table in tables if len(table.start_ns)]
        stops = [int(table.end_ns.max()) for table in tables if len(table.end_ns)]
        return min(max(stops, default=0) - min(starts, default=0), self.wall_ns)

    @cached_property
    def busy_while_active_fraction(self) -> float:
        """Share of ``active_ns`` with a kernel running."""
        return min(self.aggregation.busy_ns / self.active_ns, 1.0) if self.active_ns > 0 else 0.0

    @cached_property
    def _gpus(self) -> tuple[Int64s, Int64s]:
        """The GPUs of aggregated kernels, and the place there of each kernel's."""
        return numbered(self.profile.kernels.device[self.kernel])

    def gpu_of_most(self, selected: Bools) -> int | None:
        """The GPU on which the chosen aggregated kernels take most time; None if no kernel was aggregated."""
        gpus, number = self._gpus
        times = np.bincount(number, weights=np.where(selected, self.duration, 0))
        return int(gpus[times.argmax()]) if len(times) else None

    def kernel_time(self, selected: Bools) -> int:
        """Time (ns) of the chosen aggregated kernels in an iteration, on the GPU with most of it."""
        return self._on_gpu_of_most(selected, self.duration)

    def kernel_count(self, selected: Bools) -> int:
        """How many of the chosen aggregated kernels run in an iteration on the GPU of ``kernel_time``."""
        return self._on_gpu_of_most(selected, np.ones(len(selected), np.int64))

    def _on_gpu_of_most(self, selected: Bools, weights: Int64s) -> int:
        device = self.gpu_of_most(selected)
        mine = selected & (self.profile.kernels.device[self.kernel] == device)
        return self.per_iteration(int(weights[mine].sum()))

    @cached_property
    def reported(self) -> Bools:
        """Which aggregated kernels a finding has spoken of (``gains.about_kernels``)."""
        return np.zeros(len(self.kernel), np.bool_)

    def tell_of(self, selected: Bools) -> None:
        """Remember of which kernels a finding speaks."""
        self.reported[selected] = True
        self.spoken_of = selected

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Where the time of the aggregated iterations goes; means leave out single slow ones."""
        complete(self.profile)
        candidate, values = self.aggregation.candidate, self.aggregation.iterations.iter_value
        diagnosis = diagnose(self.profile, candidate)
        if not diagnosis.marked or not len(diagnosis.start_ns):
            return diagnosis
        first, last = (int(np.searchsorted(candidate.values, values[end])) for end in (0, -1))
        if (first, last) != (diagnosis.typical.start, diagnosis.typical.stop):
            diagnosis.selected = list(range(first, last + 1))
        return diagnosis

    @cached_property
    def ops_by_id(self) -> dict[str, Op]:
        """The ops of the profile."""
        return {op.op_id: op for op in self.profile.ops}

    @cached_property
    def idle_rows(self) -> list[list[Row]]:
        """The causes of idle time of each of the diagnosis' GPUs, most time first."""
        return [rows_of(self.diagnosis, device) for device in self.diagnosis.devices]

    @cached_property
    def lead_in(self) -> dict[str, Any]:
        """What came before the first GPU work, by GPU, where no iterations are marked."""
        return lead_in(self.diagnosis)

    @cached_property
    def captures(self) -> tuple[int, int]:
        """How many CUDA graphs are captured, and for how many nanoseconds."""
        return self.diagnosis.captured

    @cached_property
    def late(self) -> Late | None:
        """The GPU that comes late to collectives, if another one of the recording waits for it."""
        return find_late(self.profile, self.diagnosis)

    @cached_property
    def lost_shares(self) -> Float64s:
        """How much of what each aggregated kernel would save only leaves the GPU idle for longer."""
        return lost_shares(self.profile, self.diagnosis, self.kernel)

    @cached_property
    def launching_ns(self) -> Int64s:
        """How long a host took to launch each aggregated kernel."""
        return launching_ns(self.profile, self.kernel)

    def limit(self, device: int | None) -> Part:
        """What a GPU waits for most, of what the host does."""
        rows = [own for each, own in zip(self.diagnosis.devices, self.idle_rows, strict=True) if each.device == device]
        return limit_of(self.profile, rows[0] if rows else [])

    def part_share(self, part: Part, device: int | None) -> float:
        """What share of an iteration a part takes on a GPU."""
        return self.share_of_iteration(
            sum(
                int(self.diagnosis.mean(each.parts_ns)[part])
                for each in self.diagnosis.devices
                if each.device == device
            )
        )

    @cached_property
    def host_bound(self) -> bool:
        """Whether most of the idle time, and a fifth of all, is the host's."""
        return host_bound(self.diagnosis)

    def share_of_iteration(self, time_ns: float) -> float:
        """A time of one iteration as a share of its length."""
        wall = self.diagnosis.mean_wall_ns
        return time_ns / wall if wall else 0.0

    @cached_property
    def has_page(self) -> Bools:
        """Whether each op is in the aggregation, so that a page can open it, by row of ``Profile.ops``.

        An op whose call began before the iterations is not, even if the call extends into them.
        """
        result = np.zeros(len(self.profile.ops), np.bool_)
        result[self.aggregation.op_nodes.op] = True
        return result

    @property
    def marked(self) -> bool:
        """Whether iterations are marked, so that what happens in one of them is repeated in others."""
        return self.aggregation.candidate.source != "whole_capture"

    @cached_property
    def of_convolutions(self) -> Bools:
        """Which kernels of the profile convolve, by their own names or their op's type."""
        facts, of_op = self.efficiency.facts, self.ops_where(_CONVOLUTION, of="op_type")
        by_name = np.array([name == "convolution" for name in facts.families] or [False], np.bool_)[facts.family]
        result: Bools = by_name | of_op[self.profile.kernels.op] if len(by_name) else by_name
        return result

    @cached_property
    def searching(self) -> Bools:
        """Ops in which a library tries the algorithms of a convolution, in most of their calls, by row: it waits for an
        event to time each, and most of the kernels are none that run afterwards."""
        ops, tries = len(self.profile.ops), np.zeros(len(self.profile.ops), np.int64)
        for table in (self.profile.syncs, self.profile.calls):
            names = distinct_values(table.name).tolist()
            waits = [name for name in names if "EventSynchronize" in self.profile.strings[name]]
            tries += np.bincount(table.op[are_among(table.name, waits)], minlength=ops)
        calls = np.bincount(self.profile.instances.op, minlength=ops)
        result: Bools = self.ops_where(_CONVOLUTION, of="op_type") & (tries > 0) & (2 * tries >= calls)
        return result

    @cached_property
    def switches_of_tf32(self) -> tuple[bool, bool]:
        """Whether any convolution of the profile, and anything else, multiplies in TF32, in the iterations or not.
        Attention in FP32 splits its operands for three multiplications in TF32, whether a switch is on or off."""
        facts = self.efficiency.facts
        reported = [name == "tf32" for name in facts.precisions], [name != "attention" for name in facts.families]
        is_tf32, is_switched = (np.array(each, np.bool_) for each in reported)
        uses = is_tf32[facts.precision] & is_switched[facts.family]
        return bool((uses & self.of_convolutions).any()), bool((uses & ~self.of_convolutions).any())

    @property
    def uses_tf32(self) -> bool:
        """Whether any kernel of the profile multiplies in TF32."""
        return any(self.switches_of_tf32)

    def share(self, time_ns: float) -> float:
        """A time as a share of the wall time."""
        return time_ns / self.wall_ns if self.wall_ns else 0.0

    def kernel_share(self, time_ns: float) -> float:
        """A kernel time as a share of the windows of the diagnosis, or of the time of all kernels if that is longer.

        It is longer if the host ran ahead and the GPU works on after the iterations, or if kernels run in parallel.
        """
        wall_ns = self.diagnosis.mean_wall_ns * self.iterations or self.wall_ns
        whole_ns = max(wall_ns, self.on_gpu(int(self.duration.sum())))
        return self.on_gpu(time_ns) / whole_ns if whole_ns else 0.0

    def stated_share(self, selected: Bools) -> float:
        """The time of the chosen aggregated kernels in an iteration (``kernel_time``) as a share of its length, for
        sentences that say both; of the time of all kernels where they take longer than it."""
        share = self.share_of_iteration(self.kernel_time(selected))
        return share if share <= 1 else self.kernel_share(self.time(selected))

    def per_iteration(self, time_ns: float) -> int:
        """The mean per iteration of a total over the iterations."""
        return round(time_ns / self.iterations)

    def per_gpu(self, total: float) -> int:
        """The mean per iteration and GPU of a total over all kernels, which can be a count or a time.

        Only this is comparable with the length of an iteration.
        """
        return self.per_iteration(self.on_gpu(total))

    def on_gpu(self, time_ns: float) -> float:
        """The wall time that a plain sum of kernel times takes when several GPUs work in parallel."""
        return time_ns / max(self.devices, 1)

    @cached_property
    def kernel(self) -> Int64s:
        """Rows of the aggregated kernels."""
        return self.aggregation.iteration_kernels.kernel

    @cached_property
    def duration(self) -> Int64s:
        """Time of each aggregated kernel in the iterations, in nanoseconds: its duration, but for what runs too late.

        The GPU may work on after the last iteration, whose mark does not wait for it. So much of the latest kernels is
        left out as no work of the iteration before the first makes up for.
        """
        duration = self.efficiency.facts.duration[self.kernel]
        if not self.marked or not len(duration):
            return spilled(duration)
        candidate, values = self.aggregation.candidate, self.aggregation.iterations.iter_value
        first, last = (int(np.searchsorted(candidate.values, values[end])) for end in (0, -1))
        marks = np.stack((candidate.start_ns, candidate.stop_ns), axis=1)[first : last + 1].ravel()
        passed = np.cumsum(np.diff(marks, prepend=marks[0]) * (np.arange(len(marks)) % 2))
        kernels, result = self.profile.kernels, duration.copy()
        for device, rows in rows_by_value(kernels.device[self.kernel]):
            on_device = kernels.device == device
            ends, starts = (np.interp(times[on_device], marks, passed) for times in (kernels.end_ns, kernels.start_ns))
            inside = round(float((ends - starts).sum()))
            if int(duration[rows].sum()) > inside:
                rows = rows[np.argsort(kernels.start_ns[self.kernel[rows]], kind="stable")]
                before = np.cumsum(duration[rows]) - duration[rows]
                result[rows] = np.clip(inside - before, 0, duration[rows])
        return spilled(result)

    def of_family(self, *families: str) -> Bools:
        """Which aggregated kernels are of these families."""
        return self._are_of_family(self.efficiency.facts.family[self.kernel], families)

    def _are_of_family(self, family: Int16s, families: Collection[str]) -> Bools:
        wanted = [index for index, name in enumerate(self.efficiency.facts.families) if name in families]
        return are_among(family, wanted)

    def of_precision(self, *precisions: str) -> Bools:
        """Which aggregated kernels compute in these precisions."""
        facts = self.efficiency.facts
        wanted = [index for index, precision in enumerate(facts.precisions) if precision in precisions]
        return are_among(facts.precision[self.kernel], wanted)

    def of_library(self, *libraries: str) -> Bools:
        """Which aggregated kernels are of these libraries."""
        facts = self.efficiency.facts
        wanted = [index for index, library in enumerate(facts.libraries) if library in libraries]
        return are_among(facts.library[self.kernel], wanted)

    def of_ops(self, selected: Bools) -> Bools:
        """Which aggregated kernels belong to chosen ops; ``selected`` is by row of ``Profile.ops``."""
        result: Bools = selected[self.profile.kernels.op[self.kernel]] if len(self.kernel) else np.zeros(0, np.bool_)
        return result

    def time(self, selected: Bools) -> int:
        """Plain sum of the durations of the chosen aggregated kernels."""
        return int(self.duration[selected].sum())

    @cached_property
    def associated(self) -> Bools:
        """Which ops the program called, by row of ``Profile.ops``; not those that stand for unassociated work."""
        return np.array([op.eligibility != Eligibility.UNASSOCIATED for op in self.profile.ops], np.bool_)

    def ops_where(self, test: Expression, *, of: str = "name") -> Bools:
        """Ops whose path (``of="op_type"``: type) matches, by row."""
        texts = [getattr(op, of) for op in self.profile.ops]
        # Calls of one path are many ops.
        result = test.containing(set(texts))
        return np.array([text in result for text in texts], np.bool_)

    @cached_property
    def transposing(self) -> Bools:
        """Which aggregated kernels only change the layout of tensors."""
        return self.named(LAYOUT_CHANGES)

    def named(self, parts: Collection[str]) -> Bools:
        """Which aggregated kernels have one of these, in lower case, in their names."""
        names = self.profile.kernels.name[self.kernel]
        texts = {name: self.profile.strings[name].lower() for name in distinct_values(names).tolist()}
        return are_among(names, [name for name, text in texts.items() if any(part in text for part in parts)])

    @cached_property
    def replays(self) -> bool:
        """Whether most kernels are launched by calls that launch several kernels, which replay CUDA graphs."""
        release_pages()
        kernels = self.profile.kernels
        launched = self.kernel[kernels.launched[self.kernel] != 0]
        of_call = (kernels.device, kernels.thread_id, kernels.process_id, kernels.api_start_ns)
        columns = [spilled(column[launched]) for column in of_call]
        order = np.lexsort(columns)
        in_call = np.diff(np.append(np.flatnonzero(begins_new(order, *columns)), len(order)))
        return 2 * int(in_call[in_call > 1].sum()) > len(self.kernel)

    @cached_property
    def optimizer(self) -> Bools:
        """Which ops belong to the step of an optimizer, by row of ``Profile.ops``."""
        return self.ops_where(_STEP)

    @cached_property
    def optimizer_is_slow(self) -> bool:
        """Whether the optimizer works tensor by tensor, with many kernels that are mostly not optimizer kernels."""
        kernels = self.of_ops(self.optimizer)
        multi = self.time(kernels & self.of_family("optimizer"))
        return (
            self.per_gpu(int(kernels.sum())) >= thresholds.OPTIMIZER_KERNELS
            and multi <= 0.5 * self.time(kernels)
        )  # fmt: skip

    @cached_property
    def overlapping_collectives_fraction(self) -> float:
        """Share of the time in which a GPU computes in which a collective runs, too."""
        diagnosis = self.diagnosis
        hidden = computing = 0
        for device in diagnosis.devices:
            parts = diagnosis.mean(device.parts_ns)
            hidden += int(diagnosis.mean(device.communication_ns)) - int(parts[Part.COMMUNICATION])
            computing += int(sum(parts[part] for part in COMPUTE))
        return hidden / computing if computing else 0.0

    @cached_property
    def products(self) -> Bools:
        """Which aggregated kernels multiply matrices."""
        return self.of_family(*PRODUCT_FAMILIES) & ~self.transposing

    @cached_property
    def pools(self) -> dict[Pool, float]:
        """Wall time (ns) in all iterations, by the pool that a gain can be taken from."""
        exposed_fraction, count = 1 - self.overlapping_collectives_fraction, self.iterations
        other = ~(self.products | self.transposing | self.of_family("collective"))
        blocked = self._idle_ns(lambda cause: cause.part == Part.BLOCKED and cause.detail in ("sync", "copy"))
        return {
            Pool.DATA_LOADER: self._part_ns(Part.DATA_LOADER) * count,
            Pool.IO: self._part_ns(Part.IO) * count,
            Pool.SETUP: (self._part_ns(Part.BLOCKED) - blocked) * count,
            Pool.SYNC: blocked * count,
            Pool.LAUNCH: self._part_ns(Part.LAUNCHING) * count,
            Pool.HOST: self._part_ns(Part.HOST_OP, Part.HOST_CODE) * count,
            Pool.UNRECORDED: self._part_ns(Part.UNRECORDED) * count,
            Pool.COPIES: self._part_ns(Part.COPY) * count,
            Pool.COMMUNICATION: self._part_ns(Part.COMMUNICATION) * count,
            Pool.PRODUCTS: self.on_gpu(self.time(self.products)) * exposed_fraction,
            Pool.LAYOUT: self.on_gpu(self.time(self.transposing)) * exposed_fraction,
            Pool.OTHER_KERNELS: self.on_gpu(self.time(other)) * exposed_fraction,
        }

    def _part_ns(self, *parts: Part) -> int:
        """Some parts of an iteration, on the GPU with most of them."""
        diagnosis = self.diagnosis
        means = [diagnosis.mean(device.parts_ns) for device in diagnosis.devices]
        return max((int(sum(mean[part] for part in parts)) for mean in means), default=0)

    def _idle_ns(self, test: Callable[[Cause], bool]) -> int:
        """Idle time of an iteration of some causes, on the GPU with most of it."""
        return max((sum(row.time_ns for row in own if test(row.cause)) for own in self.idle_rows), default=0)

    @property
    def recorded(self) -> frozenset[str]:
        """What the capture contains (``CaptureInfo.recorded``)."""
        return self.profile.info.recorded

    @property
    def backward(self) -> bool:
        """Whether the profile contains a backward pass."""
        return any(op.direction == "bprop" for op in self.profile.ops)
