"""Computes the kernel time of an aggregation by precision, and by whether matrix units were used."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.efficiency.causes import PRECISION_OF_TYPE
from tensorboard_plugin_dlprof.efficiency.tables import KernelFacts, PrecisionTime
from tensorboard_plugin_dlprof.profile.tables import Profile

COMMUNICATION = "communication"
"""Stands in place of the precision of collectives, whose type says what is sent, not what is computed."""

_UNITS = len(MatrixUnit)


def precision_times(profile: Profile, aggregation: Aggregation, facts: KernelFacts) -> list[PrecisionTime]:
    """Kernel time by precision and matrix unit, as far as they occur. The precision is the kernel's, else its op's."""
    kernel = aggregation.iteration_kernels.kernel
    precisions = list(dict.fromkeys([*facts.precisions, *PRECISION_OF_TYPE.values(), COMMUNICATION]))
    place = {precision: number for number, precision in enumerate(precisions)}
    of_op = np.array([place[PRECISION_OF_TYPE.get(op.data_type, "")] for op in profile.ops] or [0], np.int64)
    used = facts.precision[kernel]
    used = np.where(used == place[""], of_op[profile.kernels.op[kernel]] if len(profile.ops) else 0, used)
    if "collective" in facts.families:
        used[facts.family[kernel] == facts.families.index("collective")] = place[COMMUNICATION]
    code = used * _UNITS + profile.kernels.matrix_unit[kernel]
    size = len(precisions) * _UNITS
    # Doubles represent sums of nanoseconds exactly up to a hundred days.
    times = np.bincount(code, weights=facts.duration[kernel], minlength=size).astype(np.int64)
    kernels = np.bincount(code, minlength=size)
    return [
        PrecisionTime(precisions[each // _UNITS], MatrixUnit(each % _UNITS), int(times[each]), int(kernels[each]))
        for each in np.flatnonzero(kernels).tolist()
    ]
