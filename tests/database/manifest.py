"""The facts of each real profile, as the shared data's manifest states them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from tests.shared_data import shared_data_or_none

_WORK = re.compile(r"^\* kernels ([\d,]+), .*kernel time ([\d,]+) ns, union ([\d,]+) ns")
_MEMORY = re.compile(r"^\* copies ([\d,]+), ([\d,]+) ns; sets ([\d,]+), ([\d,]+) ns")
_DEVICE = re.compile(r"(\d+): ([\d,]+) kernels, ([\d,]+) ns")
_GRAPHS = re.compile(r"^\* whole graph launches ([\d,]+), ([\d,]+) ns")
_STEPS = re.compile(r"^\* ProfilerStep: (\d+)(?: \(ProfilerStep#(\d+) to ProfilerStep#(\d+)\))?")
_LINKED = re.compile(r"^\* kernels with a (?:runtime row|launch event) ([\d,]+)")


@dataclass
class Facts:
    """Of one file. Times are nanoseconds; ``None`` where the manifest says nothing."""

    kernels: int = 0
    kernel_ns: int = 0
    union_ns: int = 0
    """Per device, then added."""
    copies: int = 0
    copy_ns: int = 0
    sets: int = 0
    set_ns: int = 0
    devices: dict[int, tuple[int, int]] | None = None
    """Kernels and their time of each device that has some."""
    graphs: tuple[int, int] = (0, 0)
    steps: tuple[int, int, int] | None = None
    """How many, first, last."""
    launched: int | None = None
    """Kernels with a launch call."""


@cache
def facts() -> dict[str, Facts]:
    """By the path below the shared data; only PyTorch and Nsight profiles that can be read."""
    folder = shared_data_or_none()
    if folder is None:
        return {}
    result: dict[str, Facts] = {}
    current = Facts()
    for line in (folder / "MANIFEST.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            current = Facts()
            name = line.removeprefix("### ").strip()
            if name.endswith((".sqlite", ".json", ".json.gz")):
                result[name] = current
        elif work := _WORK.match(line):
            current.kernels, current.kernel_ns, current.union_ns = map(_number, work.groups())
        elif memory := _MEMORY.match(line):
            current.copies, current.copy_ns, current.sets, current.set_ns = map(_number, memory.groups())
        elif line.startswith("* by device"):
            current.devices = {int(d): (_number(n), _number(t)) for d, n, t in _DEVICE.findall(line)}
        elif graphs := _GRAPHS.match(line):
            current.graphs = (_number(graphs[1]), _number(graphs[2]))
        elif (steps := _STEPS.match(line)) and steps[2]:
            current.steps = (int(steps[1]), int(steps[2]), int(steps[3]))
        elif linked := _LINKED.match(line):
            current.launched = _number(linked[1])
    return result


def _number(text: str) -> int:
    return int(text.replace(",", ""))
