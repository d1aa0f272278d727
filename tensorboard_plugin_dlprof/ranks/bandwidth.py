"""Bandwidth of collectives, as nccl-tests compute it, and the nominal peaks of links."""

from __future__ import annotations

import re

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job

_PEAKS = (
    (r"\b(?:GB200|B200|B300|GB300)\b", 900e9),
    (r"\b(?:H100|H200|GH200)\b", 450e9),
    (r"\bH800\b", 200e9),
    (r"\bA100\b", 300e9),
    (r"\bV100\b", 150e9),
    (r"\bMI300X\b", 448e9),
)
"""Nominal bandwidth of one GPU's link to others of its host, in one direction, bytes a second."""

_CARDS = re.compile(r"PCIe|\bNVL\b|FHHL", re.IGNORECASE)
"""Cards have these chips too, and are linked by PCIe or in pairs."""


def message_bytes(each: Operations) -> Int64s:
    """Bytes of the whole message of each operation; -1 if unknown, or if what goes in and comes out contradict."""
    size = len(each.members)
    sent, got = each.in_bytes, each.out_bytes
    sizes = np.where(each.kind == Collective.ALL_GATHER, got, sent)
    known = (sent >= 0) & (got >= 0)
    gathers, scatters = each.kind == Collective.ALL_GATHER, each.kind == Collective.REDUCE_SCATTER
    wrong = known & ((gathers & (got != size * sent)) | (scatters & (sent != size * got)))
    return np.where(wrong, -1, sizes)


def bus_factor(kind: int, size: int) -> float:
    """Bytes that each link carries, per byte of the message."""
    if kind == Collective.ALL_REDUCE:
        return 2 * (size - 1) / size
    if kind in (Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.ALL_TO_ALL):
        return (size - 1) / size
    return 1.0


def peak_of(job: Job, each: Operations) -> tuple[float | None, str]:
    """The nominal bandwidth of the link that a group certainly uses; else why it is unknown."""
    members = [job.members[place] for place in each.members.tolist()]
    hosts = {member.host for member in members}
    if "" in hosts:
        return None, "the hosts of its ranks are unknown"
    if len(hosts) > 1:
        return None, "it crosses hosts, and the network is not recorded"
    names = {member.tables.gpu_name for member in members}
    if len(names) == 1:
        name = names.pop()
        if _CARDS.search(name):
            return None, "cards are linked by PCIe or bridges, which is not recorded"
        for pattern, peak in _PEAKS:
            if re.search(pattern, name):
                return peak, ""
    return None, "the link of its GPUs is unknown"
