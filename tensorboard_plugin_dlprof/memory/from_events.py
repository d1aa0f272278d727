"""The history of each GPU's memory from the allocator's events in a trace."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, STAYS, Blocks, History, Phase
from tensorboard_plugin_dlprof.events.tables import MemoryEvents
from tensorboard_plugin_dlprof.memory.pairing import are_several, bridged, category_of, continued, pair, possible
from tensorboard_plugin_dlprof.profile.tables import Profile


def histories(profile: Profile) -> list[History]:
    """The history of each GPU with events; the host's memory is left out."""
    memory = profile.memory
    capacity = {device.device_id: device.memory_bytes for device in profile.devices}
    return [
        _history(profile, memory, device, capacity.get(device, 0))
        for device in distinct_values(memory.device[memory.device >= 0]).tolist()
    ]


def _history(profile: Profile, memory: MemoryEvents, device: int, capacity: int) -> History:
    rows = np.flatnonzero(memory.device == device)
    rows = rows[np.argsort(memory.time_ns[rows], kind="stable")]
    change, total = memory.num_bytes[rows], memory.allocated_bytes[rows]
    driver = memory.of_driver
    relative = bool((total < 0).any()) and not driver
    # Of the driver no totals are recorded, but mostly everything from the start of the program.
    in_use = np.append(0, np.cumsum(change)) if relative or driver else np.append(max(total[0] - change[0], 0), total)
    pairs = pair(memory.address[rows] if memory.address is not None else np.full(len(rows), -1, np.int64), change)
    del change, total  # Columns of all events are many at once here.
    asked = memory.asked_bytes[rows] if memory.asked_bytes is not None else np.zeros(0, np.int64)
    phase = memory.phase[rows] if memory.phase is not None else np.zeros(len(rows), np.int8)
    op = memory.op[rows] if memory.op is not None else np.full(len(rows), -1, np.int32)
    used = np.zeros(len(profile.ops) + 1, np.bool_)
    used[op + 1] = used[0] = True  # the first is unknown
    owner = np.cumsum(used) - 1
    stays = pairs.freed == STAYS
    freed = phase[np.where(stays, 0, pairs.freed)]
    # What is freed between ranges, by the garbage collector, is freed where the program was: ask the events around.
    freed = np.where(freed == Phase.UNKNOWN, continued(phase)[np.where(stays, 0, pairs.freed)], freed)
    backward = bool((phase == Phase.BACKWARD).any())
    held = memory.reserved_bytes[np.append(rows[:1], rows)] if len(rows) else np.full(1, -1, np.int64)
    relative |= driver and len(pairs.freed_unseen) > 0
    category = category_of(phase[pairs.allocated], freed.astype(np.int8), stays, backward)
    if profile.info.source_format == "xplane":
        category[~stays] = CATEGORIES.index("temporary")
    if driver:
        category = np.full(len(category), CATEGORIES.index("taken from the driver"), np.int8)
    history = History(
        device=device,
        measure="driver" if driver else "allocated",
        relative=relative,
        time_ns=memory.time_ns[rows],
        in_use_bytes=in_use,
        reserved_bytes=held if not relative and not driver else np.full(len(in_use), -1, np.int64),
        blocks=Blocks(
            pairs.allocated,
            pairs.freed,
            pairs.num_bytes,
            category,
            owner[op[pairs.allocated] + 1].astype(np.int32),
            np.zeros(len(category), np.int32),
        ),
        owners=["", *(profile.ops[row].name for row in np.flatnonzero(used[1:]).tolist())],
        owner_ops=np.append(-1, np.flatnonzero(used[1:])),
        capacity_bytes=capacity,
        out_of_memory=[(event, int(asked[event]), -1) for event in np.flatnonzero(asked > 0).tolist()],
        segment_events=np.flatnonzero(np.diff(held) > 0),
        return_events=np.flatnonzero(np.diff(held) < 0),
        phase=bridged(phase) if not driver and are_several(phase) else np.zeros(0, np.int8),
        lost_frees=pairs.lost_frees,
    )
    return possible(history)
