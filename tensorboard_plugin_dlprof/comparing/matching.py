"""Pairs the ops of A with those of B, in tiers: only what one tier leaves enters the next.

Ops are taken in the order of the program. What no tier pairs is gone (only in A) or new (only in B).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from tensorboard_plugin_dlprof.comparing.names import normal_kernel_name, without_numbers
from tensorboard_plugin_dlprof.comparing.recording import Op

PATH_AND_SHAPE = "path and shape"
PATH = "path"
SEVERAL = "path, several ops"
WITHOUT_NUMBERS = "path without numbers"
TYPE_AND_SHAPE = "type and shape"
BELOW = "replaced below the same path"
KERNEL_NAME = "kernel name"
KERNEL_FAMILY = "kernel family"
GONE = "only in A"
NEW = "only in B"


class Match(msgspec.Struct):
    """Ops of A against ops of B; one side is empty if they are gone or new."""

    matched_by: str
    """One of the constants of this module."""
    name: str
    a: list[Op]
    b: list[Op]


_MOST_LEVELS = 32
"""Levels of a path that may be replaced as a whole."""

_Key = Callable[[Op], "Hashable | None"]
"""What two ops must share; None for an op that a tier does not take."""


def match_ops(a: Sequence[Op], b: Sequence[Op]) -> list[Match]:
    """Pair all ops; every op is in exactly one match.

    Args:
        a: ops of A in the order of the program.
        b: ops of B, likewise.
    """
    left = _Leftovers(list(a), list(b))
    for name, key in ((PATH_AND_SHAPE, _path_and_shape), (PATH, _path)):
        left.pair(name, key, equally_many=True)
    left.group(SEVERAL, _path, lambda op: op.path)
    left.group(WITHOUT_NUMBERS, _path_without_numbers, lambda op: without_numbers(op.path))
    left.pair(TYPE_AND_SHAPE, _type_and_shape, equally_many=False)
    left.group_below()
    left.group(KERNEL_NAME, _telling_kernel, _kernel_words)
    left.group(KERNEL_FAMILY, _unassociated_family, _family_words)
    return [_as_told(match) for match in left.matches] + left.rest()


def _as_told(match: Match) -> Match:
    """Of a kernel in no op, the path is its name."""
    by_path = match.matched_by in (PATH_AND_SHAPE, PATH, SEVERAL, WITHOUT_NUMBERS)
    of_kernels = by_path and not any(op.associated for op in (*match.a, *match.b))
    return msgspec.structs.replace(match, matched_by=KERNEL_NAME) if of_kernels else match


def match_kernels(a: Sequence[Op], b: Sequence[Op]) -> list[Match]:
    """Pair the kernels of the whole programs, for profiles of which only one has ops. The ops are from
    ``ops_of_kernels``."""
    left = _Leftovers(list(a), list(b))
    left.pair(KERNEL_NAME, lambda op: op.path, equally_many=True)
    left.group(KERNEL_NAME, lambda op: normal_kernel_name(op.path), _kernel_words)
    left.group(KERNEL_FAMILY, lambda op: _family(op) or None, _family_words)
    return left.matches + left.rest()


def ops_of_kernels(ops: Iterable[Op]) -> list[Op]:
    """An op for each short kernel name, in the order of first use, with all launches of all ops as its calls."""
    result: dict[str, Op] = {}

    def one(name: str, op: Op) -> Op:
        if name not in result:
            result[name] = Op(name, name, "kernel", "", "", True, op.start_ns, 0, 0, 0, 0, 0, [], [])
        return result[name]

    for op in ops:
        for kernel in op.kernels:
            added = one(kernel.short_name, op)
            added.calls += kernel.launches
            added.kernel_ns += kernel.time_ns
            added.tensor_core_ns += kernel.time_ns if kernel.tensor_core else 0
            added.unknown_ns += kernel.time_ns if kernel.tensor_core is None else 0
            added.kernels.append(kernel)
        unnamed_ns = op.kernel_ns - sum(kernel.time_ns for kernel in op.kernels)
        if unnamed_ns or op.graph_ns:
            rest = one(f"{op.path} (kernels not named)", op)
            rest.calls += op.calls
            rest.kernel_ns += unnamed_ns
            rest.graph_ns += op.graph_ns
    return list(result.values())


class _Leftovers:
    """The ops that no tier has paired yet, in the order of the program."""

    def __init__(self, a: list[Op], b: list[Op]) -> None:
        self._a, self._b = a, b
        self.matches: list[Match] = []

    def pair(self, tier: str, key: _Key, equally_many: bool) -> None:
        """Pair ops one to one in order within each key."""
        of_a, of_b = _by_key(self._a, key), _by_key(self._b, key)
        for shared in (key for key in of_a if key in of_b):
            left, right = of_a[shared], of_b[shared]
            if not equally_many or len(left) == len(right):
                self.matches += [Match(tier, y.path, [x], [y]) for x, y in zip(left, right, strict=False)]
        self._drop_matched()

    def group(self, tier: str, key: _Key, name: Callable[[Op], str]) -> None:
        """Pair all ops of A with a key with all ops of B with it."""
        of_a, of_b = _by_key(self._a, key), _by_key(self._b, key)
        for shared in (key for key in of_a if key in of_b):
            self.matches.append(Match(tier, name(of_b[shared][0]), of_a[shared], of_b[shared]))
        self._drop_matched()

    def group_below(self) -> None:
        """Group ops with GPU time below the deepest path that both sides have some below."""
        above = {id(op): _groups(op) for op in (*self._a, *self._b)}
        for depth in range(max(map(len, above.values()), default=0), 0, -1):
            groups: dict[str, Match] = {}
            for side, ops in enumerate((self._a, self._b)):
                for op in ops:
                    if len(above[id(op)]) >= depth:
                        path = above[id(op)][depth - 1]
                        match = groups.setdefault(path, Match(BELOW, f"replaced below {path}", [], []))
                        (match.a, match.b)[side].append(op)
            self.matches += [match for match in groups.values() if match.a and match.b]
            self._drop_matched()

    def rest(self) -> list[Match]:
        """What is only in A and only in B."""
        return [Match(GONE, op.path, [op], []) for op in self._a] + [Match(NEW, op.path, [], [op]) for op in self._b]

    def _drop_matched(self) -> None:
        taken = {id(op) for match in self.matches for op in (*match.a, *match.b)}
        self._a = [op for op in self._a if id(op) not in taken]
        self._b = [op for op in self._b if id(op) not in taken]


def _by_key(ops: Iterable[Op], key: _Key) -> dict[Hashable, list[Op]]:
    result: dict[Hashable, list[Op]] = defaultdict(list)
    for op in ops:
        shared = key(op)
        if shared is not None:
            result[shared].append(op)
    return result


def _path_and_shape(op: Op) -> Hashable:
    return op.path, op.op_type, op.direction, op.shapes


def _path(op: Op) -> Hashable:
    return op.path, op.op_type, op.direction


def _path_without_numbers(op: Op) -> Hashable:
    return without_numbers(op.path), op.op_type, op.direction


def _type_and_shape(op: Op) -> Hashable | None:
    return (op.op_type, op.direction, op.shapes) if op.shapes and op.associated else None


def _groups(op: Op) -> list[str]:
    """The paths above an op with GPU time, from the outermost, without the root."""
    if not op.associated or not (op.kernel_ns or op.graph_ns):
        return []
    above = op.path.split("/", _MOST_LEVELS + 2)[:-1][: _MOST_LEVELS + 1]
    return ["/".join(above[: end + 1]) for end in range(1, len(above))]


_USED_EVERYWHERE = frozenset({"", "elementwise", "copy", "reduction"})
"""Families whose kernels do not tell what an op does."""


def _longest_kernel(op: Op) -> str:
    return max(op.kernels, key=lambda kernel: kernel.time_ns).name if op.kernels else ""


def _telling_kernel(op: Op) -> Hashable | None:
    """The kernel with the most time; of an op only if few other ops use it."""
    if not op.kernels or (op.associated and _family(op) in _USED_EVERYWHERE):
        return None
    return normal_kernel_name(_longest_kernel(op))


def _unassociated_family(op: Op) -> Hashable | None:
    return _family(op) or None if not op.associated else None


def _family(op: Op) -> str:
    return max(op.kernels, key=lambda kernel: kernel.time_ns).family if op.kernels else ""


def _kernel_words(op: Op) -> str:
    return normal_kernel_name(_longest_kernel(op))


def _family_words(op: Op) -> str:
    return f"{_family(op)} kernels"
