"""Writes the efficiency and the findings of an aggregation into our own tables."""

from __future__ import annotations

import sqlite3

import msgspec

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.tables import Verdict
from tensorboard_plugin_dlprof.database.efficiency_rows import write_efficiency
from tensorboard_plugin_dlprof.database.finding_rows import write_verdict
from tensorboard_plugin_dlprof.efficiency.tables import Efficiency
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


class Advice(msgspec.Struct):
    """How well the GPU was used, and what to change."""

    efficiency: Efficiency
    verdict: Verdict


def write_advice(
    con: sqlite3.Connection,
    aggr_id: int,
    profile: Profile,
    aggregation: Aggregation,
    advice: Advice,
    text: Int64s,
    op_ids: Int64s,
) -> None:
    """Store the advice on an aggregation.

    Args:
        con: the database that is being written.
        aggr_id: ``aggregations.id`` of the aggregation.
        profile: the profile of the aggregation.
        aggregation: what the advice is about.
        advice: what to store.
        text: ``dictionary.id`` of each id in ``Profile.strings``.
        op_ids: ``read_only_ops.id`` of each row of ``Profile.ops``.
    """
    write_efficiency(con, aggr_id, profile, aggregation, advice.efficiency, text, op_ids)
    write_verdict(con, aggr_id, advice.verdict)
