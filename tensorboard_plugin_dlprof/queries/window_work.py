"""What takes the most time of a GPU in a window: kernels, copies and sets by name, and the ops that launched them."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound
from tensorboard_plugin_dlprof.queries.item_facts import Facts
from tensorboard_plugin_dlprof.queries.tracks import Names, items_in, parts_in, recorded_tracks
from tensorboard_plugin_dlprof.timeline.tables import CLASSES, STREAM

MOST_WORK = 200_000
"""Pieces of work that are read for one window."""
_LARGEST = 5


def largest_work(con: sqlite3.Connection, device: int, start_ns: int, stop_ns: int) -> dict[str, Any]:
    """The names and the ops with the most GPU time in a window, each piece of work cut to it.

    Ops that do the same in the repetitions of a model are one, as in the table of gaps.

    Raises:
        NotFound: the database has no tracks, or no such GPU.
        BadRequest: there is too much.
    """
    streams = [track for track in recorded_tracks(con) if track.kind == STREAM and track.device == device]
    if not streams:
        raise NotFound(f"There is no GPU {device} with work in this profile.")
    seen = sum(count for track in streams for _, count in parts_in(con, track, start_ns, stop_ns))
    if seen > MOST_WORK:
        raise BadRequest(f"This window holds more than {MOST_WORK:,} pieces of work; zoom in.")
    names, facts = Names(con), Facts(con)
    work_ns: Counter[tuple[str, str]] = Counter()
    work_count: Counter[tuple[str, str]] = Counter()
    op_ns: Counter[str] = Counter()
    op_count: Counter[str] = Counter()
    op_ids: dict[str, set[str]] = defaultdict(set)
    for track in streams:
        items = items_in(con, track, start_ns, stop_ns)
        length = np.minimum(items.stop, stop_ns) - np.maximum(items.start, start_ns)
        # A piece of work is told by what it is: many are the same launch of an op.
        key, first, of = np.unique(
            items.ref * len(CLASSES[STREAM]) + items.work_class, return_index=True, return_inverse=True
        )
        some = some_rows(items, first)
        ns, count = np.zeros(len(key), np.int64), np.bincount(of, minlength=len(key))
        np.add.at(ns, of, length)
        told = zip(
            names.of(track, some.work_class, some.ref),
            facts.of(track, some.work_class, some.ref),
            some.work_class.tolist(),
            ns.tolist(),
            count.tolist(),
            strict=True,
        )
        for name, fact, work_class, own_ns, own_count in told:
            work_ns[name, CLASSES[STREAM][work_class]] += own_ns
            work_count[name, CLASSES[STREAM][work_class]] += own_count
            op = path_pattern(str(fact.get("op", "")))
            op_ns[op] += own_ns
            op_count[op] += own_count
            op_ids[op].add(str(fact.get("op_id", "")))
    return {
        "device": device,
        "from": start_ns,
        "to": stop_ns,
        "works": [
            {"name": name, "class": kind, "count": work_count[name, kind], "ns": ns}
            for (name, kind), ns in work_ns.most_common(_LARGEST)
        ],
        "ops": [
            {
                "op": op,
                "op_id": next(iter(op_ids[op])) if len(op_ids[op]) == 1 else "",
                "count": op_count[op],
                "ns": ns,
            }
            for op, ns in op_ns.most_common(_LARGEST)
        ],
    }
