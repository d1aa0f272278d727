"""Compares profiles; the numbers are those of ``dlprof compare`` and of the page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from tensorboard_plugin_dlprof.api.frames import plain_frame
from tensorboard_plugin_dlprof.api.opening import open_profile
from tensorboard_plugin_dlprof.api.profile import Profile
from tensorboard_plugin_dlprof.api.short_tables import ShortColumn
from tensorboard_plugin_dlprof.comparing import as_json, comparison
from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.comparing.tables import COMPARE, GROUPS

if TYPE_CHECKING:
    import pandas as pd

PathOrProfile: TypeAlias = "str | os.PathLike[str] | Profile"


_ROWS = tuple(
    COMPARE.column(key)
    for key in (
        *("kind", "name", "matched_by", "op_type", "a_ns", "b_ns", "change_ns", "work_ns", "speed_ns", "a_calls"),
        *("b_calls", "low_ratio", "high_ratio", "a_kernel", "b_kernel", "a_tensor_core_fraction"),
        "b_tensor_core_fraction",
    )
)

_GROUPS = tuple(
    GROUPS.column(key)
    for key in (
        *("name", "direction", "op_type", "a_ops", "b_ops", "a_ns", "b_ns", "change_ns", "of_change_fraction"),
        *("work_ns", "speed_ns", "a_calls", "b_calls", "low_ratio", "high_ratio", "a_kernel", "b_kernel"),
        *("a_tensor_core_fraction", "b_tensor_core_fraction"),
    )
)

_REPLACED = (
    ShortColumn("a", "text", "kernels of A, the one with the most time first"),
    ShortColumn("b", "text", "kernels of B in their place"),
    ShortColumn("rows", "integer", "ops in which they were replaced"),
    ShortColumn("a_time_ns", "duration_ns", "time of A's kernels by unit of comparison"),
    ShortColumn("b_time_ns", "duration_ns", "time of B's kernels by unit of comparison"),
    ShortColumn("change_ns", "duration_ns", "b_time_ns less a_time_ns"),
    ShortColumn("a_launches", "number", "launches of A by unit of comparison"),
    ShortColumn("b_launches", "number", "launches of B by unit of comparison"),
    ShortColumn("a_tensor_core_fraction", "fraction", "share of the time on Tensor Cores"),
    ShortColumn("b_tensor_core_fraction", "fraction", "share of the time on Tensor Cores"),
    ShortColumn("a_precision", "text", "precision of A's kernels"),
    ShortColumn("b_precision", "text", "precision of B's kernels"),
)

_ITERATIONS = (
    ShortColumn("side", "text", "a or b"),
    ShortColumn("recording", "text", "name of the profile"),
    ShortColumn("iteration", "integer", "number of the iteration"),
    ShortColumn("iteration_time_ns", "duration_ns", "length; unknown where iterations are not marked"),
    ShortColumn("idle_time_ns", "duration_ns", "time without GPU work; unknown where iterations are not marked"),
    ShortColumn("kernel_time_ns", "duration_ns", "plain sum of kernels over all GPUs"),
)


class Comparison:
    """What changed from a baseline A to a candidate B; from ``dlprof.compare``.

    ``data`` is the object that ``dlprof compare --format json`` prints. Times are nanoseconds by unit of comparison;
    those of ops are of their kernels, without copies and memsets.
    """

    def __init__(self, result: comparison.Comparison) -> None:
        self._comparison = result

    @cached_property
    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        return as_json.as_json(self._comparison)

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, ``no_clear_change`` or ``cannot_tell``."""
        return str(self.data["verdict"])

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return str(self.data["sentence"])

    @property
    def per(self) -> str:
        """Unit of comparison: ``iteration``, ``call`` or ``capture``."""
        return self._comparison.per

    @property
    def a(self) -> dict[str, Any]:
        """The baseline: ``name``, ``device``, ``iterations``, ``value_ns`` and more."""
        return dict(self.data["a"])

    @property
    def b(self) -> dict[str, Any]:
        """The candidate, likewise."""
        return dict(self.data["b"])

    @property
    def change_ns(self) -> int:
        """B less A."""
        return self._comparison.change_ns

    @property
    def change_fraction(self) -> float | None:
        """B / A - 1; None if A took no time."""
        return self._comparison.change_ns / self._comparison.a_ns if self._comparison.a_ns > 0 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % bounds of the ratio of B to A; None with too few samples."""
        result = self.data["interval"]
        return None if result is None else (result[0], result[1])

    @property
    def comparability(self) -> list[str]:
        """What to know before reading any number."""
        return list(self._comparison.comparability)

    def rows(self) -> pd.DataFrame:
        """One row per matched, gone or new op, and per part of the time without kernels: they add up to the change."""
        return plain_frame([{**row, **_bounds(row["interval"])} for row in self.data["rows"]], _ROWS)

    def groups(self) -> pd.DataFrame:
        """The rows summed over the repetitions of the model (the same op of every layer is one): they add up too."""
        return plain_frame([{**group, **_bounds(group["interval"])} for group in self.data["groups"]], _GROUPS)

    def kernels_replaced(self) -> pd.DataFrame:
        """One row per set of kernels that took the place of others."""
        rows = self.data["kernels_replaced"]
        return plain_frame([{**row, "a": ", ".join(row["a"]), "b": ", ".join(row["b"])} for row in rows], _REPLACED)

    def iterations(self) -> pd.DataFrame:
        """The samples of both sides, one row per iteration."""
        sides = (("a", self._comparison.a), ("b", self._comparison.b))
        return plain_frame(
            [row for name, side in sides for one in side.recordings for row in _iterations(name, one)], _ITERATIONS
        )

    def __repr__(self) -> str:
        return f"<Comparison: {self.sentence}>"


def _bounds(interval: Sequence[float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"low_ratio": low, "high_ratio": high}


def _iterations(side: str, one: Recording) -> Iterable[dict[str, object]]:
    columns = one.iteration_values, one.iteration_time, one.idle_time, one.kernel_time
    for number, iteration_ns, idle_ns, kernel_ns in zip(*columns, strict=True):
        yield {
            "side": side,
            "recording": one.name,
            "iteration": number,
            "iteration_time_ns": iteration_ns if one.marked else None,
            "idle_time_ns": idle_ns if one.marked else None,
            "kernel_time_ns": kernel_ns,
        }


def compare(
    a: PathOrProfile | Sequence[PathOrProfile],
    b: PathOrProfile | Sequence[PathOrProfile],
    *,
    floor: float | None = None,
) -> Comparison:
    """Compare a baseline with a candidate.

    Args:
        a: The baseline: a path as for ``open``, an opened profile (with the aggregation to compare), or several
            recordings of one program.
        b: The candidate, likewise.
        floor: The smallest fraction that is called a change; by default 0.02, and of kernel time 0.01.

    Raises:
        ProfileError: A profile cannot be opened; the message says why and what to do.
    """
    return Comparison(comparison.compare(_recordings(a), _recordings(b), floor))


def _recordings(profiles: PathOrProfile | Sequence[PathOrProfile]) -> list[Recording]:
    if isinstance(profiles, (str, os.PathLike, Profile)):
        profiles = [profiles]
    result = []
    for profile in profiles:
        if isinstance(profile, Profile):
            result.append(profile.recording())
        else:
            with open_profile(profile) as opened:
                result.append(opened.recording())
    return result
