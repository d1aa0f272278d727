"""One recorded op -> its work, by the op's bare name."""

from __future__ import annotations

from tensorboard_plugin_dlprof.efficiency import attention, convolutions, products
from tensorboard_plugin_dlprof.efficiency.bandwidth_ops import bandwidth_formula
from tensorboard_plugin_dlprof.efficiency.calls import Call
from tensorboard_plugin_dlprof.efficiency.convolutions import Outputs
from tensorboard_plugin_dlprof.efficiency.work import Work


def work_of(call: Call, learnt: Outputs | None = None) -> Work | None:
    """FLOPs and minimum bytes of an op; None where there is no formula or the recorded shapes do not suffice.

    Args:
        call: The op.
        learnt: Shapes of convolutions' outputs, which ``convolutions.learn`` gathered from backward ops.
    """
    if call.name in products.FORMULAS:
        return products.FORMULAS[call.name](call)
    if call.name in convolutions.FORMULAS:
        return convolutions.FORMULAS[call.name](call, {} if learnt is None else learnt)
    if call.name in attention.FORMULAS:
        return attention.FORMULAS[call.name](call)
    formula = bandwidth_formula(call.name)
    return None if formula is None else formula(call)
