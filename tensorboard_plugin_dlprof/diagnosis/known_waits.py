"""What a rank's job tells of it: what waits for other ranks cannot be hidden, and what to change in all of the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorboard_plugin_dlprof.units import percentage, short_duration

COMMUNICATION: Final = "communication_detector"
"""The rule whose gain waits are taken out of."""

NOT_TAKEN_OUT: Final = "Waits for other ranks, which cannot be hidden, are not taken out."
OTHER_RANKS_SHOW: Final = "; the other ranks' recordings show whether it transfers or waits for a late one"
OTHER_HOSTS_SHOW: Final = "; the other hosts' recordings show whether it transfers or waits for a late GPU"
SHOWS_BESIDE: Final = "; whether it transfers or waits for a late rank shows beside the other ranks' recordings"
WAITS_ARE_TOLD: Final = (
    " Waits for other ranks cannot: where they were compared, GPUs and Ranks says how long these are."
)
"""What is said while the other ranks are unknown, at the end of a problem, an advice, a reason and an estimate."""

SURE: Final[Mapping[str, float]] = {"high": 0.6, "medium": 0.4, "low": 0.2}
"""How much of the distance between the ends of a gain counts in the order of findings, by its confidence."""

_CANNOT_BE_GAINED, _REST = 0.25, 0.1
"""How much of the time of findings without a gain counts, by whether it is all lost; that of kernels is work."""

_OF_WALL_TIME = frozenset({"unrecorded", "missing_work", "communication", "copies"})
"""Causes whose time is all lost, whatever can be gained of it."""

_EVEN_OUT: Final = "Even out what the ranks compute or send"
_SEND_EVENLY: Final = ", even out what the ranks send each other"
"""What most helps where most is a wait, and what an advice says of it."""

_MOST_WAITS = 0.5

_LEAST_GAIN = 0.01
"""Below this share of an iteration nothing is recommended for the sake of its gain."""


def without_waits(diagnosis: Mapping[str, Any], waits: float | None) -> dict[str, Any]:
    """A diagnosis (``as_data.as_data``) whose gain of hiding communication leaves waits for other ranks out.

    No more can be gained than the rest of the exposed communication. If that is less than what others gain, the finding
    comes behind them.

    Args:
        diagnosis: of a rank.
        waits: the fraction of its exposed communication that waits for other ranks; None is unknown: then the diagnosis
            stays as it is.
    """
    findings: Sequence[dict[str, Any]] = diagnosis["findings"]
    place = next((at for at, each in enumerate(findings) if each["rule"] == COMMUNICATION), None)
    if place is None or waits is None or findings[place]["time_ns"] is None:
        return {**diagnosis}
    told = _told(findings[place], waits, diagnosis["mean"]["wall_ns"])
    before, after = findings[:place], findings[place + 1 :]
    end = next((at for at, each in enumerate(after) if _weight(each) <= _weight(told)), len(after))
    return {**diagnosis, "findings": [*before, *after[:end], told, *after[end:]]}


def _told(finding: Mapping[str, Any], waits: float, wall_ns: int) -> dict[str, Any]:
    title = finding["title"].removesuffix(NOT_TAKEN_OUT).rstrip()
    action = finding["action"].replace(OTHER_RANKS_SHOW, "").replace(OTHER_HOSTS_SHOW, "")
    if waits > _MOST_WAITS:
        rest = action.replace(_SEND_EVENLY, "")
        action = f"{_EVEN_OUT}. {rest}"
    gain = finding["gain"]
    return {
        **finding,
        "title": f"{title} Of the exposed time, {percentage(waits)} is a wait for other ranks, which nothing hides.",
        "action": action,
        "gain": None if gain is None else _gain(gain, finding["time_ns"], waits, wall_ns),
    }


def _gain(gain: Mapping[str, Any], time_ns: int, waits: float, wall_ns: int) -> dict[str, Any]:
    """A gain of no more than what is no wait."""
    most_ns = round(time_ns * (1 - waits))
    if gain["high_ns"] is None:
        if waits > _MOST_WAITS:
            return {**gain, "cannot_tell": "most of it is a wait for other ranks"}
        return {**gain, "cannot_tell": (gain["cannot_tell"] or "").replace(SHOWS_BESIDE, "") or None}
    how = (gain["how"] or "").replace(WAITS_ARE_TOLD, "")
    if most_ns < _LEAST_GAIN * wall_ns:
        nothing = dict.fromkeys(("low_ns", "high_ns", "share_low", "share_high", "how"))
        return {**gain, **nothing, "cannot_tell": "nearly all of it is a wait for other ranks"}
    left = min(most_ns / gain["high_ns"], 1.0)
    return {
        **gain,
        **{key: round(gain[key] * left) for key in ("low_ns", "high_ns")},
        **{key: gain[key] * left for key in ("share_low", "share_high")},
        "how": f"{how} Waits for other ranks cannot, which leaves {short_duration(most_ns)} of the exposed time.",
    }


_SAME: Final = {"exposed_communication": COMMUNICATION, "small_collectives": "small_collectives"}
"""By rule of a job, that of a rank which is about the same and tells more of it."""

_FROM_ALL: Final = "The recordings of all ranks tell it, as GPUs and Ranks compares them."


def with_job_findings(diagnosis: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A diagnosis with the findings of its job among its own: each behind those that gain as much, and before what is
    told for information alone. What a finding of the rank is about, too, is told once.

    Args:
        diagnosis: of a rank, of whose mean iteration all gains are shares.
        findings: of its job (``queries.job.findings``).
    """
    told: list[dict[str, Any]] = list(diagnosis["findings"])
    rules = {each["rule"] for each in told}
    for finding in findings:
        if _SAME.get(finding["rule"]) in rules:
            continue
        new = _of_job(finding, diagnosis["mean"]["wall_ns"], "unrecorded_gpu_work" in rules)
        # What is missing from the recording comes before all that is known.
        places = (at for at, each in enumerate(told) if each["rule"] != "unrecorded_gpu_work")
        told.insert(next((at for at in places if _order(told[at]) < _order(new)), len(told)), new)
    return {**diagnosis, "findings": told}


def _of_job(finding: Mapping[str, Any], wall_ns: int, lacks_work: bool) -> dict[str, Any]:
    gain_ns = finding["gain_ns"]
    share = gain_ns / wall_ns if gain_ns and wall_ns else None
    keys = "low_ns", "high_ns", "share_low", "share_high", "how", "cannot_tell", "most_ns", "none_while"
    gain: dict[str, Any] = dict.fromkeys(keys)
    if gain_ns:
        # All that computing could hide is the most; so is a delay where work that was not recorded may be needed.
        least = 0 if lacks_work or finding["rule"] == "exposed_communication" else 1
        gain |= {"low_ns": least * gain_ns, "high_ns": gain_ns, "share_low": least * (share or 0), "share_high": share}
        gain["how"] = _FROM_ALL
    elif gain_ns == 0:
        limits = "another rank is as slow"
        gain |= {"none_while": limits, "cannot_tell": f"none while {limits}"}
    else:
        gain["cannot_tell"] = "the ranks' recordings do not tell it"
    return {
        "rule": finding["rule"],
        "heading": finding["title"],
        "cause": "communication",
        "title": finding["text"],
        "action": finding["action"],
        "severity": "warning" if finding["severity"] > 1 else "advice",
        "confidence": "medium",
        "part": None,
        "time_ns": gain_ns or None,
        "share": share,
        "per": "iteration",
        "gain": gain,
        "evidence": [],
        "overlaps_with": [],
        "missing_work": None,
        "link": None,
        "whole_job": True,
    }


def _order(finding: Mapping[str, Any]) -> tuple[bool, float]:
    return finding["severity"] != "info", _weight(finding)


def _weight(finding: Mapping[str, Any]) -> float:
    gain = finding["gain"]
    if gain is not None and gain["high_ns"] is not None:
        return sure_gain(gain["low_ns"], gain["high_ns"], finding["confidence"])
    if finding["per"] == "once" or (gain is not None and gain["none_while"] is not None):
        return 0.0
    return unknown_gain(finding["time_ns"] or 0, finding["cause"])


def sure_gain(low_ns: int, high_ns: int, confidence: str) -> float:
    """The nanoseconds by which findings with a gain are sorted."""
    return low_ns + (high_ns - low_ns) * SURE[confidence]


def unknown_gain(time_ns: float, cause: str) -> float:
    """The nanoseconds by which findings are sorted whose gain is not known."""
    return time_ns * (_CANNOT_BE_GAINED if cause in _OF_WALL_TIME else _REST)
