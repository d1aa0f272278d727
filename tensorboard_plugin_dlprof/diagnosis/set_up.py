"""What a program does once, by the names of its ranges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Profile

_SET_UP: Final = Expression(
    r"(?:^|[^a-z])(?:init(?:iali[sz](?:e|ation|ing))?|set[_ -]?up|start[_ -]?up|warm[_ -]?up|"
    r"(?:load|build|creat|prepar|download)(?:e|ing)?[_ -]?(?:\w+[_ -])?"
    r"(?:model|weight|checkpoint|state|data|dataset|engine|tokenizer)s?)(?![a-z])",
    re.IGNORECASE,
    ("init", "set", "start", "warm", "load", "build", "creat", "prepar"),
)


def set_up_places(profile: Profile, times: Iterable[tuple[str, int]], whole_ns: int) -> list[str]:
    """The ranges that set the program up and hold more than half of some time, most first, no more than it takes; none
    if all of them together do not.

    Args:
        profile: with the ranges as ops.
        times: paths, and the time that is lost in each.
        whole_ns: how much time that is half of.
    """
    inside: Counter[str] = Counter()
    for path, time_ns in times:
        inside[_set_up(profile, path)] += time_ns
    del inside[""]
    result, left = [], whole_ns
    for name, time_ns in inside.most_common():
        result.append(name)
        left -= time_ns
        if 2 * left < whole_ns:
            return result
    return []


def _set_up(profile: Profile, path: str) -> str:
    """The part of a path down to a range that ran once and is set-up by its name; empty if there is none."""
    levels = path.strip("/").split("/")
    for depth, level in enumerate(levels, 1):
        if _SET_UP.search(level):
            prefix = "/".join(levels[:depth])
            own = [row for row, op in enumerate(profile.ops) if op.name.strip("/") == prefix]
            calls = profile.instances.op
            return prefix if sum(int((calls == row).sum()) for row in own) == 1 else ""
    return ""
