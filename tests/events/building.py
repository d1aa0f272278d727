"""Short ways to look at the profile of a drawn capture."""

from __future__ import annotations

from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.profile.tables import Op, Profile
from tests.timeline import draw


def build(text: str) -> Profile:
    """The profile of a drawn capture."""
    return build_profile(draw(text))


def ops(profile: Profile) -> dict[str, tuple[str, str]]:
    """Op id -> path and direction."""
    return {op.op_id: (op.name, op.direction) for op in profile.ops}


def op(profile: Profile, op_id: str) -> Op:
    """The op with an id."""
    return next(item for item in profile.ops if item.op_id == op_id)


def calls(profile: Profile) -> dict[str, int]:
    """Op id -> number of instances."""
    counts = {item.op_id: 0 for item in profile.ops}
    for row in profile.instances.op.tolist():
        counts[profile.ops[row].op_id] += 1
    return counts


def kernels(profile: Profile) -> dict[str, list[str]]:
    """Op id -> short names of its kernels, for ops that have any."""
    result: dict[str, list[str]] = {}
    for row, name in zip(profile.kernels.op.tolist(), profile.kernels.name.tolist(), strict=True):
        result.setdefault(profile.ops[row].op_id, []).append(profile.strings[name])
    return result


def instance_text(profile: Profile, op_id: str, column: str) -> str:
    """A text of the first instance of an op."""
    row = next(i for i, index in enumerate(profile.instances.op.tolist()) if profile.ops[index].op_id == op_id)
    return profile.strings[int(getattr(profile.instances, column)[row])]
