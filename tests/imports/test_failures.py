"""What failed is left alone for a while, each time for longer, and never for good."""

from __future__ import annotations

from tensorboard_plugin_dlprof.imports.advising import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    MAX_FAILURES,
    Failures,
)


def test_pauses_grow_and_end() -> None:
    """Each is twice as long as the last, up to the longest; what worked once starts anew."""
    now = [0.0]
    failures = Failures(lambda: now[0])
    assert not failures.is_paused("a")
    pauses = []
    for _ in range(12):
        failures.add("a")
        start = now[0]
        while failures.is_paused("a"):
            now[0] += FIRST_PAUSE_SECONDS
        pauses.append(now[0] - start)
    assert pauses[:3] == [FIRST_PAUSE_SECONDS, 2 * FIRST_PAUSE_SECONDS, 4 * FIRST_PAUSE_SECONDS]
    assert pauses[-1] == LONGEST_PAUSE_SECONDS
    failures.clear("a")
    failures.add("a")
    now[0] += FIRST_PAUSE_SECONDS
    assert not failures.is_paused("a")


def test_each_has_its_own_and_the_oldest_go() -> None:
    """What failed says nothing of others, and not everything that ever failed is remembered."""
    failures = Failures(lambda: 0.0)
    failures.add("a")
    assert failures.is_paused("a")
    assert not failures.is_paused("b")
    for number in range(MAX_FAILURES):
        failures.add(number)
    assert not failures.is_paused("a")
    assert failures.is_paused(MAX_FAILURES - 1)
