"""What the names of runs and files tell."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.runs.profile import captured_from_name, run_order


def test_runs_are_in_tensorboards_order() -> None:
    """Numbers compare as numbers, and breaks (slash, underscore, digit) sort before letters."""
    ordered = [".", "a2", "a10", "a/b", "ab", "lr0.1/x", "lr0.5/x", "run_2", "run_10", "run1e2", "train"]
    mixed = ordered[::2] + ordered[1::2]
    assert sorted(mixed, key=run_order) == ordered


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("worker0.1623143089861.pt.trace.json.gz", 1623143089.861),
        ("host_851.1752215573993169006.pt.trace.json", 1752215573.993169),
        ("worker0.pt.trace.json", None),
        ("run.12345.json", None),
    ],
)
def test_the_time_of_a_capture_is_in_its_name(name: str, seconds: float | None) -> None:
    """Older PyTorch writes milliseconds, newer nanoseconds."""
    assert captured_from_name(name) == (pytest.approx(seconds) if seconds else None)
