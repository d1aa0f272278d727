"""Writes the efficiency and the findings of an aggregation into our own tables."""

from __future__ import annotations

import json
import sqlite3

import msgspec

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.tables import Verdict
from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.database.efficiency_rows import write_efficiency
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
    _write_verdict(con, aggr_id, advice.verdict)


def _write_verdict(con: sqlite3.Connection, aggr_id: int, verdict: Verdict) -> None:
    """Store the findings of the expert system, their evidence, and the rules that it could not decide. Sentences are
    stored with their numbers filled in; the numbers are also stored as data."""
    times = ("iteration_ns", "total_low_ns", "total_high_ns")
    insert_row(con, "ext_verdicts", {"aggr_id": aggr_id, **{name: getattr(verdict, name) for name in times}})
    for position, finding in enumerate(verdict.findings):
        gain, same = finding.gain, {"aggr_id": aggr_id, "position": position}
        insert_row(
            con,
            "ext_findings",
            {
                **same,
                "detector": finding.detector,
                "severity": finding.severity.name.lower(),
                "confidence": finding.confidence.name.lower(),
                "area": finding.area,
                "problem": storable(finding.problem_text()),
                "recommendation": storable(finding.recommendation_text()),
                "numbers": storable(json.dumps(dict(finding.numbers), ensure_ascii=False)),
                "gain_low_ns": gain.low_ns if gain else None,
                "gain_high_ns": gain.high_ns if gain else None,
                "reasoning": gain.reasoning if gain else "",
                "link": finding.link,
            },
        )
        for row, each in enumerate(finding.evidence):
            detail = each.detail if each.call in each.detail else ", ".join(filter(None, (each.call, each.detail)))
            texts = {"kind": each.kind, "key": storable(each.key), "detail": storable(detail)}
            numbers = {"time_ns": each.time_ns, "fraction": each.fraction, "count": each.count}
            insert_row(con, "ext_finding_evidence", {**same, "row": row, **texts, **numbers})
    undecided = [
        (aggr_id, position, each.detector, each.missing, each.hint) for position, each in enumerate(verdict.undecided)
    ]
    insert_rows(con, "ext_undecided_rules", ("aggr_id", "position", "detector", "missing", "hint"), undecided)
