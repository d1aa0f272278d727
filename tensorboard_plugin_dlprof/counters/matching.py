"""Matches measured launches with the kernels of a profile; what counters prove takes precedence over names.

Whether a kernel has Tensor Core instructions is a property of its code, so what one launch proves applies to all
launches of that full name. Measured values of a launch (achieved occupancy, bytes of device memory) belong to the
launches with the same name, grid and block: in order if the report has as many of them as the profile, else as their
mean. If the report has no grids (PyTorch's counters), they belong to all launches of a name in order, if the numbers
match.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility, KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.classify.kernel_names import parse
from tensorboard_plugin_dlprof.classify.kernels import classify
from tensorboard_plugin_dlprof.counters import metrics
from tensorboard_plugin_dlprof.counters.ncu_csv import Dimensions, Measured, Report
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import KernelCounters, Profile

_CAST: Final = re.compile(r"\((?:unsigned |signed )?[A-Za-z_][\w:]*(?: int| long)*\)(?=[-\w])")
_SUFFIX: Final = re.compile(r"(?<![\w.])(-?\d+)(?:[uU]?[lL]{0,2})(?![\w.])")
_TRUTH: Final = re.compile(r"\b(true|false)\b")


@lru_cache(maxsize=16_384)
def name_key(name: str) -> str:
    """The name without return type, parameters, casts and spaces."""
    text = _without_parameters(parse(name).text)
    text = _SUFFIX.sub(r"\1", _CAST.sub("", text))
    return _TRUTH.sub(lambda match: "1" if match[1] == "true" else "0", text).replace(" ", "")


def _without_parameters(text: str) -> str:
    """The text up to the first bracket that stands outside of template arguments."""
    depth = 0
    for place, letter in enumerate(text):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= text[place - 1] != "-"
        elif letter == "(" and depth <= 0 and place:
            return text[:place]
    return text


_SHOWN_LETTERS: Final = 80


def apply_counters(profile: Profile, report: Report, shown: str) -> list[str]:
    """Add counters to a profile before it is aggregated.

    Args:
        profile: Changed: the classes of kernels and the eligibility of ops if counters prove otherwise; ``counters``.

    Returns:
        Warnings about missing or contradictory counters, one sentence each.

    Raises:
        BadRequest: No measured launch matches a kernel of the profile.
    """
    launches = _Launches(profile)
    matched: dict[int, list[Measured]] = defaultdict(list)
    lost: list[Measured] = []
    for measured in report.launches:
        name = launches.name_of(measured)
        if name is None:
            lost.append(measured)
        else:
            matched[name].append(measured)
    if not matched:
        raise BadRequest(
            f"{shown}: none of its {len(report.launches):,} launches matches a kernel of this profile "
            f"(the first is {_short(report.launches[0].name)}); measure the program that was profiled."
        )
    warnings = _prove(profile, matched, shown)
    profile.counters = _measures(launches, matched)
    if lost:
        warnings.append(
            f"{shown}: {len(lost):,} of {len(report.launches):,} launches match no kernel of this profile; "
            f"the first of them is {_short(lost[0].name)}."
        )
    if report.skipped_rows:
        warnings.append(
            f"{shown}: {report.skipped_rows:,} entries were skipped, because they are damaged or belong to no known "
            "kernel."
        )
    return warnings


class _Launches:
    """The kernels of a profile, indexed by name, grid and block."""

    def __init__(self, profile: Profile) -> None:
        kernels = profile.kernels
        self._strings = profile.strings
        self._by_key: dict[str, list[int]] = defaultdict(list)
        self._by_head: dict[str, list[int]] = defaultdict(list)
        rows: dict[tuple[int, Dimensions, Dimensions], list[int]] = defaultdict(list)
        for name in np.unique(kernels.long_name).tolist():
            self._by_key[name_key(self._strings[name])].append(name)
            self._by_head[parse(self._strings[name]).head].append(name)
        order = np.argsort(kernels.start_ns, kind="stable")
        names, grids, blocks = (column[order].tolist() for column in (kernels.long_name, kernels.grid, kernels.block))
        for row, name, grid, block in zip(order.tolist(), names, grids, blocks, strict=True):
            rows[name, tuple(grid), tuple(block)].append(row)
        self.rows = rows

    def rows_of(self, name: int, grid: Dimensions | None, block: Dimensions | None) -> tuple[list[int], bool]:
        """The rows of a name's launches in order, of one grid and block if given; whether all have the same size."""
        if grid is not None and block is not None:
            return self.rows.get((name, grid, block), []), True
        kinds = [rows for (of_name, _, _), rows in self.rows.items() if of_name == name]
        return sorted(row for rows in kinds for row in rows), len(kinds) == 1

    def name_of(self, measured: Measured) -> int | None:
        """Text id of a measured launch's long name in the profile; of several, that with its grid and block. None if
        there is none."""
        for names in (self._by_key.get(name_key(measured.name)), self._by_head.get(parse(measured.name).head)):
            fitting = [name for name in names or () if self._fits(name, measured)]
            if len(fitting) == 1:
                return fitting[0]
            if names and len(names) == 1 and name_key(self._strings[names[0]]) == name_key(measured.name):
                # The same code with another size proves the same, although its values do not apply to these launches.
                return names[0]
        return None

    def _fits(self, name: int, measured: Measured) -> bool:
        if measured.grid is None or measured.block is None:
            return False
        return (name, measured.grid, measured.block) in self.rows


def _prove(profile: Profile, matched: dict[int, list[Measured]], shown: str) -> list[str]:
    """Override the classes of kernels that counters prove. Returns warnings."""
    warnings: list[str] = []
    changed, partial = 0, 0
    units_of: dict[int, MatrixUnit] = {}
    if not any(metrics.has_tensor_counter(each.values) for rows in matched.values() for each in rows):
        return [
            f"{shown}: it has no Tensor Core counter, so the names of kernels decide which ones use Tensor Cores; "
            "collect sm__inst_executed_pipe_tensor.sum."
        ]
    for name, rows in matched.items():
        proofs = [metrics.proof(each.values, each.capability_major) for each in rows]
        units = {unit for unit, _ in proofs}
        proven = MatrixUnit.YES if MatrixUnit.YES in units else MatrixUnit.NO if units == {MatrixUnit.NO} else None
        if {MatrixUnit.YES, MatrixUnit.NO} <= units:
            warnings.append(
                f"{shown}: some launches of {_short(profile.strings[name])} ran Tensor Core instructions and some did "
                "not; it counts as a kernel that uses them."
            )
        if proven is None:
            partial += any(metrics.has_tensor_counter(each.values) for each in rows)
            continue
        counter = next(metric for unit, metric in proofs if unit == proven)
        known: KernelClass = profile.kernel_classes.get(name) or classify(profile.strings[name])
        profile.kernel_classes[name] = msgspec.structs.replace(known, matrix_unit=proven, rule=f"counter {counter}")
        units_of[name] = proven
        changed += known.matrix_unit != proven
    profile.kernels.override_units(units_of)
    if changed:
        warnings.append(f"{shown}: for {changed:,} kernel names, the counters override what the rules say.")
    if partial:
        warnings.append(
            f"{shown}: for {partial:,} kernel names, only some Tensor Core instructions were counted, and none of "
            "these ran; the names decide. Collect sm__inst_executed_pipe_tensor.sum."
        )
    _make_eligible(profile)
    return warnings


def _make_eligible(profile: Profile) -> None:
    """Make all ops with kernels on matrix units eligible, whatever their type."""
    for op in np.unique(profile.kernels.op[profile.kernels.matrix_unit == MatrixUnit.YES]).tolist():
        if profile.ops[op].eligibility != Eligibility.UNASSOCIATED:
            profile.ops[op].eligibility = Eligibility.ELIGIBLE


class _Values(msgspec.Struct):
    """The measured values of launches of one kind, in order; ``None`` if not measured."""

    occupancy: list[float | None]
    dram_bytes: list[int | None]


def _measures(launches: _Launches, matched: dict[int, list[Measured]]) -> KernelCounters:
    kinds: dict[tuple[int, Dimensions | None, Dimensions | None], _Values] = {}
    for name, rows in matched.items():
        for each in rows:
            kind = kinds.setdefault((name, each.grid, each.block), _Values([], []))
            kind.occupancy.append(metrics.occupancy(each.values))
            kind.dram_bytes.append(metrics.dram_bytes(each.values))
    matches: list[tuple[int, float, int]] = []
    for key, values in kinds.items():
        kernels, alike = launches.rows_of(*key)
        if not alike and len(kernels) != len(values.occupancy):
            continue  # the mean of launches of different sizes is of none
        occupancy = _spread(values.occupancy, len(kernels))
        dram = _spread(values.dram_bytes, len(kernels))
        for row, fraction, num_bytes in zip(kernels, occupancy, dram, strict=True):
            if fraction is not None or num_bytes is not None:
                known = np.nan if fraction is None else fraction, -1 if num_bytes is None else round(num_bytes)
                matches.append((row, *known))
    matches.sort()
    return KernelCounters(
        kernel=_column((row for row, _, _ in matches), len(matches)),
        achieved_occupancy=np.fromiter((fraction for _, fraction, _ in matches), np.float64, len(matches)),
        dram_bytes=_column((num_bytes for _, _, num_bytes in matches), len(matches)),
    )


def _spread(values: Sequence[float | None], count: int) -> list[float | None]:
    """The values in order if there are as many as launches, else their mean for each launch."""
    if len(values) == count:
        return list(values)
    known = [value for value in values if value is not None]
    return [sum(known) / len(known) if known else None] * count


def _column(values: Iterable[int], count: int) -> Int64s:
    return np.fromiter(values, np.int64, count)


def _short(name: str) -> str:
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return line if len(line) <= _SHOWN_LETTERS else f"{line[: _SHOWN_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
