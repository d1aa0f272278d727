"""The rows of findings and of their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.known_waits import COMMUNICATION
from tensorboard_plugin_dlprof.queries.findings import Evidence, Finding
from tensorboard_plugin_dlprof.units import short_duration

_LINES = 5


def finding_rows(findings: Sequence[Finding], told: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """One row per finding.

    Args:
        findings: as an import stored them.
        told: those of the diagnosis that knows a rank's job: its order counts, and what it says of communication.
    """
    place = {finding["rule"]: at for at, finding in enumerate(told)}
    rows = []
    for finding in sorted(findings, key=lambda each: place.get(each["detector"], len(place))):
        at = place.get(finding["detector"]) if finding["detector"] == COMMUNICATION else None
        gain: Any = finding["gain"] or {}
        row: dict[str, Any] = {**finding, "evidence": evidence_text(finding["evidence"])}
        if at is not None:
            gain = told[at]["gain"] or {}
            row |= {"problem": told[at]["title"], "recommendation": told[at]["action"]}
        rows.append({**row, "gain_low_ns": gain.get("low_ns"), "gain_high_ns": gain.get("high_ns")})
    return rows


def evidence_rows(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per place behind the findings of a diagnosis."""
    return [
        {
            **{key: value or "" if key in ("call", "detail") else value for key, value in row.items()},
            "detector": finding["rule"],
            "op_id": row["op"] or "",
            "device_id": row["device"] or "",
        }
        for finding in findings
        for row in finding["evidence"]
    ]


def evidence_text(rows: Sequence[Evidence]) -> str:
    """The first rows of evidence, one a line: ``LINEAR_1 (ampere_sgemm): 1.20 ms, 12 times``."""
    lines = []
    for row in rows[:_LINES]:
        place = f"{row['key']} ({row['detail']})" if row["detail"] else row["key"]
        time = "" if row["time_ns"] is None else short_duration(row["time_ns"])
        times = "" if not row["count"] else f"{row['count']:,} {'time' if row['count'] == 1 else 'times'}"
        reported = ", ".join(filter(None, (time, times)))
        lines.append(f"{place}: {reported}" if reported else place)
    return "\n".join(lines)
