"""``dlprof compare --format json``. Times are by unit of comparison (``per``)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tensorboard_plugin_dlprof.cli.answers.units import Bytes, Fraction, Interval, Ns, Ratio


class Side(Struct):
    """A side: its recordings, and its time by unit of comparison.

    ``iteration_ns``: its mean iteration, whatever the unit of comparison is; null where iterations are not marked.
    ``recording_ns``: the mean length of its recordings; null where iterations are marked.
    """

    name: str
    device: str | None
    devices_in_use: int
    iterations: int
    marked: bool
    iterations_label: str
    first_iteration: int | None
    last_iteration: int | None
    aggregation: int
    recordings: list[str]
    value_ns: Ns
    iteration_ns: Ns | None
    recording_ns: Ns | None
    started_ns: Ns | None


class Measure(Struct):
    """One number of both sides, in the unit of its name; ``is_least`` if they are lower bounds.

    ``a`` and ``b`` are means, ``a_median`` and ``b_median`` the medians of what ``ratio`` and ``interval`` compare.
    ``input_size_ratio``: how many times as many elements the inputs of B have, if ``ratio`` and ``interval`` are of
    inputs of equal size (kernel time of recordings whose inputs differ); else null.
    """

    a: float | None
    b: float | None
    a_median: float | None
    b_median: float | None
    is_least: bool
    ratio: Ratio | None
    interval: Interval | None
    a_samples: int
    b_samples: int
    input_size_ratio: float | None


class Part(Struct):
    """A part of the time."""

    part: str
    label: str
    a_ns: Ns
    b_ns: Ns
    change_ns: Ns


class ChangedRow(Struct):
    """A row of the change; all rows add up to it."""

    kind: Literal["op", "ops", "gone", "new", "kernel", "kernels", "graphs", "overlap", "part"]
    name: str
    matched_by: str | None
    a_ns: Ns
    b_ns: Ns
    change_ns: Ns
    work_ns: Ns | None
    speed_ns: Ns | None
    a_calls: float | None
    b_calls: float | None
    interval: Interval | None
    op_type: str | None
    direction: str | None
    a_op_ids: list[str]
    b_op_ids: list[str]
    a_kernel: str | None
    b_kernel: str | None
    a_tensor_core_fraction: Fraction | None
    b_tensor_core_fraction: Fraction | None
    a_precision: str | None
    b_precision: str | None
    position: int


class ChangedGroup(Struct):
    """Rows of the change that are alike, such as the same op of every layer; all groups add up to the change.

    ``name``: pattern of the path of their ops. ``of_change_fraction``: change over the whole change, null where changes
    largely cancel out. ``positions``: those of the rows.
    """

    name: str
    direction: str | None
    op_type: str | None
    a_ops: int | None
    b_ops: int | None
    a_ns: Ns
    b_ns: Ns
    change_ns: Ns
    of_change_fraction: float | None
    work_ns: Ns | None
    speed_ns: Ns | None
    a_calls: float | None
    b_calls: float | None
    interval: Interval | None
    a_kernel: str | None
    b_kernel: str | None
    a_tensor_core_fraction: Fraction | None
    b_tensor_core_fraction: Fraction | None
    a_precision: str | None
    b_precision: str | None
    positions: list[int]
    kind: Literal["ops", "graphs", "overlap", "part"]


class Replacement(Struct):
    """Kernels of A and those of B in their place, in so many rows."""

    a: list[str]
    b: list[str]
    rows: int
    change_ns: Ns
    a_time_ns: Ns
    a_launches: float
    a_tensor_core_fraction: Fraction | None
    a_precision: str | None
    a_family: str | None
    b_time_ns: Ns
    b_launches: float
    b_tensor_core_fraction: Fraction | None
    b_precision: str | None
    b_family: str | None


class Limit(Struct):
    """A limit of ``--fail-on``; null if it cannot be decided."""

    rule: str
    broken: bool | None
    said: str


class HeldChange(Struct):
    """What a category of memory holds at the peaks of A and B; the rows add up to the peaks."""

    category: str
    a_bytes: Bytes
    b_bytes: Bytes
    change_bytes: Bytes


class HeldByOpChange(Struct):
    """What an op or line that allocated it holds at the peaks of A and B; the rows add up to the peaks."""

    op: str
    a_bytes: Bytes
    b_bytes: Bytes
    change_bytes: Bytes


class Comparison(Struct):
    """What changed from a baseline A to a candidate B.

    ``word``: the verdict for a reader, such as ``Other work``; the headline of one that is not sure begins with it.
    ``certainty``: how sure the headline is, or why it is not, or of how much of the kernel time it is; may be empty.
    ``of_medians``: whether the times in the headline are medians, else means. ``same_program``: false where the two
    have few or no ops in common, so that changes tell little. ``inputs_differ``: most of the matched time is in ops
    with other shapes, so a change is one of work and speed, neither better nor worse. ``matrix_unit``: the vendors'
    name, ``Tensor Core`` or ``Matrix Core``; ``matrix unit`` where that of A is not that of B.
    """

    schema_version: int
    verdict: Literal["faster", "slower", "no_clear_change", "cannot_tell"]
    sentence: str
    word: str
    headline: str
    details: str
    certainty: str
    of_medians: bool
    per: Literal["iteration", "call", "capture"]
    same_program: bool
    inputs_differ: bool
    a: Side
    b: Side
    change_ns: Ns
    interval: Interval | None
    ratio: Ratio | None
    comparability: list[str]
    matrix_unit: str
    measures: dict[str, Measure]
    memory: list[HeldChange]
    memory_by_op: list[HeldByOpChange]
    memory_not_recorded: str | None
    parts: list[Part]
    ops_without_gpu_time: int
    tested_rows: int
    changed_rows: int
    tested_groups: int
    changed_groups: int
    groups: list[ChangedGroup]
    rows: list[ChangedRow]
    kernels_replaced: list[Replacement]
    rules: list[Limit]


class Comparisons(Struct):
    """Several candidates, each compared with the first profile."""

    schema_version: int
    comparisons: list[Comparison]
