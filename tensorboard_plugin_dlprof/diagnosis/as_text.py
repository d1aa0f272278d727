"""The diagnosis in words, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tensorboard_plugin_dlprof.classify.architecture import matrix_unit_of
from tensorboard_plugin_dlprof.diagnosis.headline import percent
from tensorboard_plugin_dlprof.units import short_duration

_NAMES = {
    "compute_tensor": "computing on {unit}s",
    "compute_other": "computing without them",
    "compute_unknown": "computing, {unit} use unknown",
    "communication": "communication that is not hidden",
    "copy": "copies that are not hidden",
    "queued": "idle: work was queued",
    "blocked": "idle: a call blocks the host",
    "launching": "idle: launching",
    "host_op": "idle: the host is in an op",
    "host_code": "idle: the host is in the program's code",
    "data_loader": "idle: the data loader",
    "io": "idle: files and sockets",
    "unrecorded": "idle: the host does what was not recorded",
    "launch_unknown": "idle: the launch was not recorded",
}

_INCOMPLETE = {
    "missing_work": "GPU work that ran is not in it",
    "launches_without_work": "launches are recorded whose work is not",
    "work_without_launch": "GPU work is recorded whose launches are not",
    "graphs_whole": "CUDA graphs are recorded as a whole, without their kernels",
}

_ROWS = 3


def text_of(found: Mapping[str, Any]) -> str:
    """The object of ``as_data.as_data`` as text that ends in a newline."""
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield found["headline"]
    if found["typical"]["said"]:
        yield found["typical"]["said"]
    wall = found["mean"]["wall_ns"]
    unit = matrix_unit_of(device["name"] or "" for device in found["devices"])
    for device, mean in found["mean"]["devices"].items():
        yield ""
        yield f"GPU {device}, {'each of these iterations' if found['marked'] else 'all of'} {short_duration(wall)}:"
        for part, time in sorted(mean["parts"].items(), key=lambda item: -item[1]):
            if not time:
                continue
            name = _NAMES[part].format(unit=unit)
            yield f"  {short_duration(time):>9}  {percent(time / wall) if wall else '':>6}  {name}"
            places = Counter[str]()  # One place may be on several threads.
            for row in mean["rows"]:
                if row["part"] == part and (row["path"] or row["call"]):
                    places[" in ".join(filter(None, (row["call"], row["path"])))] += row["time_ns"]
            for place, spent in sorted(places.items(), key=lambda item: (item[0] == "(rest)", -item[1]))[:_ROWS]:
                yield f"  {'':>17}  {short_duration(spent)} {place}"
    if found["lower_bound"]:
        yield ""
        yield f"The recording is incomplete: {'; '.join(_INCOMPLETE[reason] for reason in found['lower_bound'])}."
    for number, finding in enumerate(found["findings"], start=1):
        yield ""
        yield f"{number}. {finding['title']}"
        if finding["action"]:
            yield f"   {finding['action']}"
