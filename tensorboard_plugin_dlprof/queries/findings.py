"""The findings of the expert system about an aggregation."""

from __future__ import annotations

import json
import sqlite3
from typing import Literal, TypeAlias, TypedDict, cast

from tensorboard_plugin_dlprof.diagnosis.headings import heading_of
from tensorboard_plugin_dlprof.queries.headline import is_marked
from tensorboard_plugin_dlprof.queries.numbers import fraction, number, whole
from tensorboard_plugin_dlprof.queries.records import records
from tensorboard_plugin_dlprof.queries.scope import Scope

MAX_FINDINGS = 1_000
MAX_EVIDENCE = 20


Severity: TypeAlias = Literal["info", "advice", "warning"]
Confidence: TypeAlias = Literal["low", "medium", "high"]


class Evidence(TypedDict):
    """One row behind a finding."""

    kind: str
    """What ``key`` is: ``op`` (its id), ``kernel`` (short name), ``line``, ``function``, ``call``, ``iteration``,
    ``device``, or another word, which nothing opens."""
    key: str
    time_ns: int | None
    fraction: float | None
    """Share of the time that the finding is about."""
    count: int | None
    detail: str


class Gain(TypedDict):
    """Estimated range of the time that one iteration would save."""

    low_ns: int | None
    high_ns: int | None
    low_fraction: float | None
    high_fraction: float | None
    reasoning: str


class Finding(TypedDict):
    """One piece of advice."""

    detector: str
    heading: str
    """What it is called, in a few words."""
    severity: Severity
    confidence: Confidence
    area: str
    problem: str
    recommendation: str
    numbers: dict[str, str | int | float | None]
    gain: Gain | None
    link: str
    evidence: list[Evidence]


class Undecided(TypedDict):
    """A rule that could not decide because data is missing."""

    detector: str
    heading: str
    missing: str
    hint: str


class Findings(TypedDict):
    """All findings about an aggregation, the most worthwhile first."""

    judged: bool
    """Whether our rules were applied; else the findings come from the database's own detectors."""
    marked: bool
    """Whether the capture has iterations; else the whole capture counts as one."""
    iteration_ns: int | None
    total_low_ns: int | None
    total_high_ns: int | None
    findings: list[Finding]
    undecided: list[Undecided]


def findings(connection: sqlite3.Connection, scope: Scope) -> Findings:
    """All stored findings. NVIDIA's databases have only sentences, in the order of their detectors."""
    verdict = connection.execute(
        "SELECT iteration_ns, total_low_ns, total_high_ns FROM ext_verdicts WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    judged = verdict is not None
    iteration_ns, low_ns, high_ns = map(whole, verdict or (None, None, None))
    return Findings(
        judged=judged,
        marked=not judged or is_marked(connection, scope) is not False,
        iteration_ns=iteration_ns,
        total_low_ns=low_ns,
        total_high_ns=high_ns,
        findings=_stored(connection, scope, iteration_ns) if judged else _sentences(connection, scope),
        undecided=_undecided(connection, scope) if judged else [],
    )


def aggregated(connection: sqlite3.Connection, scope: Scope) -> tuple[int | None, int | None, str | None]:
    """First and last iteration of the aggregation, and the key op whose end ends each iteration, if there is one."""
    row = connection.execute(
        "SELECT iter_start, iter_stop, key_node_name FROM view_aggregations WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    return (whole(row[0]), whole(row[1]), str(row[2] or "") or None) if row is not None else (None, None, None)


def _stored(connection: sqlite3.Connection, scope: Scope, iteration_ns: int | None) -> list[Finding]:
    cursor = connection.execute(
        "SELECT position, detector, severity, confidence, area, problem, recommendation, numbers, gain_low_ns, "
        "gain_high_ns, reasoning, link FROM ext_findings WHERE aggr_id = ? ORDER BY position",
        (scope.aggregation,),
    )
    return [
        Finding(
            detector=str(row[1]),
            heading=heading_of(str(row[1]), _numbers(row[7])),
            severity=cast("Severity", str(row[2])),
            confidence=cast("Confidence", str(row[3])),
            area=str(row[4]),
            problem=str(row[5]),
            recommendation=str(row[6]),
            numbers=_numbers(row[7]),
            gain=_gain(whole(row[8]), whole(row[9]), str(row[10]), iteration_ns),
            link=_address(row[11]),
            evidence=records(connection, Evidence, _EVIDENCE, (scope.aggregation, row[0]), MAX_EVIDENCE),
        )
        for row in cursor.fetchmany(MAX_FINDINGS)
    ]


_EVIDENCE = (
    "SELECT kind, key, time_ns, fraction, count, detail FROM ext_finding_evidence "
    "WHERE aggr_id = ? AND position = ? ORDER BY row"
)


def _gain(low_ns: int | None, high_ns: int | None, reasoning: str, iteration_ns: int | None) -> Gain | None:
    if low_ns is None or high_ns is None:
        return None
    return Gain(
        low_ns=low_ns,
        high_ns=high_ns,
        low_fraction=fraction(low_ns, iteration_ns),
        high_fraction=fraction(high_ns, iteration_ns),
        reasoning=reasoning,
    )


def _sentences(connection: sqlite3.Connection, scope: Scope) -> list[Finding]:
    return records(
        connection,
        Finding,
        "SELECT exp_sys_id AS detector, exp_sys_id AS heading, 'advice' AS severity, 'low' AS confidence, '' AS area, "
        "problem, recommendation, '' AS numbers, NULL AS gain, '' AS link, '' AS evidence FROM expert_systems_feedback "
        "WHERE aggr_id = ? ORDER BY id",
        (scope.aggregation,),
        MAX_FINDINGS,
        heading=heading_of,
        numbers=lambda _: {},
        gain=lambda _: None,
        evidence=lambda _: [],
    )


def _undecided(connection: sqlite3.Connection, scope: Scope) -> list[Undecided]:
    select = (
        "SELECT detector, detector AS heading, missing, hint FROM ext_undecided_rules WHERE aggr_id = ? "
        "ORDER BY position"
    )
    return records(connection, Undecided, select, (scope.aggregation,), MAX_FINDINGS, heading=heading_of)


def _numbers(text: object) -> dict[str, str | int | float | None]:
    """The numbers of a finding, from JSON; invalid values of a damaged database are left out."""
    try:
        result = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(result, dict):
        return {}
    return {str(key): value if isinstance(value, str) else number(value) for key, value in result.items()}


def _address(text: object) -> str:
    """The text if it is a link that a browser may follow; empty otherwise."""
    return str(text) if str(text).startswith("https://") else ""
