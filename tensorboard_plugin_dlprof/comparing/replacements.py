"""Which kernels of matched ops took the place of which others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec

from tensorboard_plugin_dlprof.comparing.matching import Match
from tensorboard_plugin_dlprof.comparing.names import Likeness, normal_kernel_name
from tensorboard_plugin_dlprof.comparing.recording import Kernel, Op


class KernelUse(msgspec.Struct):
    """The kernels of one side of a replacement; sums over the side's recordings."""

    names: list[str]
    """The one with the most time first."""
    launches: int = 0
    time_ns: int = 0
    tensor_core_ns: int = 0
    unknown_ns: int = 0
    precision: str = ""
    """Of the kernels with the most time; empty if unknown, like ``family``."""
    family: str = ""


class Replacement(msgspec.Struct):
    """Kernels of A and the kernels of B in their place, over all ops where exactly these stand against each other."""

    a: KernelUse
    b: KernelUse
    ops: int = 0
    """Rows of matched ops."""


def replacements(matches: Iterable[Match]) -> list[Replacement]:
    """Kernels that only one side of a match launches, by full name and then by normal name, if both sides have some."""
    result: dict[tuple[tuple[str, ...], tuple[str, ...]], Replacement] = {}
    for match in matches:
        if not match.a or not match.b or _names(match.a) == _names(match.b):
            continue
        left, right = _by_name(match.a), _by_name(match.b)
        left, right = _only(left, right, str), _only(right, left, str)
        left, right = _only(left, right, normal_kernel_name), _only(right, left, normal_kernel_name)
        if not left or not right:
            continue
        for names in _by_role(left, right):
            one = result.setdefault(names, Replacement(KernelUse(list(names[0])), KernelUse(list(names[1]))))
            one.ops += 1
            _add(one.a, left)
            _add(one.b, right)
    return sorted(result.values(), key=lambda one: (-max(one.a.time_ns, one.b.time_ns), one.a.names, one.b.names))


_Kernels = dict[str, list[Kernel]]


def _by_role(left: _Kernels, right: _Kernels) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Each kernel of B with the one of A that is most like it: an op runs several that do different things.

    Those of A that none is most like go with the one with the most time that has some, so that sums stay whole.
    """
    names, likeness = _longest_first(left), Likeness(left, right)
    places: dict[str, list[str]] = {name: [] for name in names}
    for name in _longest_first(right):
        places[max(names, key=lambda of_a: likeness(of_a, name))].append(name)
    taken = [name for name in names if places[name]]
    others = [name for name in names if not places[name]]
    parts = [([name, *others] if name == taken[0] else [name], places[name]) for name in taken]
    return [(tuple(name for name in names if name in a), tuple(b)) for a, b in parts]


def _names(ops: Sequence[Op]) -> list[str]:
    return [kernel.name for op in ops for kernel in op.kernels]


def _by_name(ops: Sequence[Op]) -> _Kernels:
    result: _Kernels = defaultdict(list)
    for op in ops:
        for kernel in op.kernels:
            result[kernel.name].append(kernel)
    return result


def _only(one: _Kernels, other: _Kernels, key: Callable[[str], str]) -> _Kernels:
    """The kernels of ``one`` whose names are in ``other`` under no form."""
    taken = {key(name) for name in other}
    return {name: kernels for name, kernels in one.items() if key(name) not in taken}


def _longest_first(kernels: _Kernels) -> list[str]:
    return sorted(kernels, key=lambda name: (-sum(kernel.time_ns for kernel in kernels[name]), name))


def _add(use: KernelUse, kernels: _Kernels) -> None:
    for name in use.names:
        for kernel in kernels[name]:
            use.launches += kernel.launches
            use.time_ns += kernel.time_ns
            use.tensor_core_ns += kernel.time_ns if kernel.tensor_core else 0
            use.unknown_ns += kernel.time_ns if kernel.tensor_core is None else 0
            use.precision = use.precision or kernel.precision
            use.family = use.family or kernel.family
