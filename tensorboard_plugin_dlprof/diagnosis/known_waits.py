"""What is said of communication once a rank's job was compared: what waits for other ranks cannot be hidden."""

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
    gain = finding["gain"]
    return {
        **finding,
        "title": f"{title} Of the exposed time, {percentage(waits)} is a wait for other ranks, which nothing hides.",
        "action": action,
        "gain": None if gain is None else _gain(gain, round(finding["time_ns"] * (1 - waits)), wall_ns),
    }


def _gain(gain: Mapping[str, Any], most_ns: int, wall_ns: int) -> dict[str, Any]:
    """A gain of no more than what is no wait."""
    if gain["high_ns"] is None:
        return {**gain, "cannot_tell": (gain["cannot_tell"] or "").replace(SHOWS_BESIDE, "") or None}
    how = (gain["how"] or "").replace(WAITS_ARE_TOLD, "")
    if most_ns < _LEAST_GAIN * wall_ns:
        nothing = dict.fromkeys(("low_ns", "high_ns", "share_low", "share_high", "how"))
        return {**nothing, "cannot_tell": "nearly all of it is a wait for other ranks"}
    left = min(most_ns / gain["high_ns"], 1.0)
    return {
        **gain,
        **{key: round(gain[key] * left) for key in ("low_ns", "high_ns")},
        **{key: gain[key] * left for key in ("share_low", "share_high")},
        "how": f"{how} Waits for other ranks cannot, which leaves {short_duration(most_ns)} of the exposed time.",
    }


def _weight(finding: Mapping[str, Any]) -> float:
    gain = finding["gain"]
    if gain is None or gain["high_ns"] is None:
        return 0.0
    return sure_gain(gain["low_ns"], gain["high_ns"], finding["confidence"])


def sure_gain(low_ns: int, high_ns: int, confidence: str) -> float:
    """The nanoseconds by which findings with a gain are sorted."""
    return low_ns + (high_ns - low_ns) * SURE[confidence]
