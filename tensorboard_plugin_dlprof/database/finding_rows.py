"""Writes the findings of the expert system, their evidence, and the rules that it could not decide."""

from __future__ import annotations

import json
import sqlite3

from tensorboard_plugin_dlprof.analysis.tables import Verdict
from tensorboard_plugin_dlprof.columns.rows import insert_rows, storable


def write_verdict(con: sqlite3.Connection, aggr_id: int, verdict: Verdict) -> None:
    """Store a verdict. Sentences are stored with their numbers filled in; the numbers are also stored as data."""
    insert_rows(
        con,
        "ext_verdicts",
        ("aggr_id", "iteration_ns", "total_low_ns", "total_high_ns"),
        [(aggr_id, verdict.iteration_ns, verdict.total_low_ns, verdict.total_high_ns)],
    )
    for position, finding in enumerate(verdict.findings):
        gain = finding.gain
        insert_rows(
            con,
            "ext_findings",
            ("aggr_id", "position", "detector", "severity", "confidence", "area", "problem", "recommendation",
             "numbers", "gain_low_ns", "gain_high_ns", "reasoning", "link"),
            [(
                aggr_id, position, finding.detector, finding.severity.name.lower(), finding.confidence.name.lower(),
                finding.area, storable(finding.problem_text()),
                storable(finding.recommendation_text()),
                storable(json.dumps(dict(finding.numbers), ensure_ascii=False)),
                gain.low_ns if gain else None, gain.high_ns if gain else None, gain.reasoning if gain else "",
                finding.link,
            )],
        )  # fmt: skip
        insert_rows(
            con,
            "ext_finding_evidence",
            ("aggr_id", "position", "row", "kind", "key", "time_ns", "fraction", "count", "detail"),
            [
                (
                    *(aggr_id, position, row, each.kind, storable(each.key)),
                    *(
                        each.time_ns,
                        each.fraction,
                        each.count,
                        storable(
                            each.detail
                            if each.call in each.detail
                            else ", ".join(filter(None, (each.call, each.detail)))
                        ),
                    ),
                )
                for row, each in enumerate(finding.evidence)
            ],
        )
    insert_rows(
        con,
        "ext_undecided_rules",
        ("aggr_id", "position", "detector", "missing", "hint"),
        [
            (aggr_id, position, each.detector, each.missing, each.hint)
            for position, each in enumerate(verdict.undecided)
        ],
    )
