"""The sentence that says how well a GPU is used."""

from __future__ import annotations

from tensorboard_plugin_dlprof.diagnosis.headline import headline
from tensorboard_plugin_dlprof.diagnosis.parts import Part


def _said(*, median_ns: int, one_of: int = 1, has_others: bool = False) -> str:
    parts = dict.fromkeys(Part, 0) | {Part.COMPUTE_OTHER: 120_000, Part.HOST_CODE: 300_000, Part.LAUNCHING: 80_000}
    return headline(
        500_000,
        parts,
        missing_ns=0,
        is_lower_bound=False,
        lacks_work=False,
        median_ns=median_ns,
        one_of=one_of,
        has_others=has_others,
    )


def test_a_mean_that_few_long_iterations_make_is_said_to_be_one() -> None:
    """No iteration takes as long; the median says what most of them take."""
    assert _said(median_ns=150_000).startswith("Computing 24 % of 500 µs on average (median 150 µs); ")
    assert _said(median_ns=150_000, one_of=2).startswith(
        "Computing 24 % of 500 µs on average (median 150 µs) on GPU 0, which computes least of 2; "
    )
    assert _said(median_ns=490_000).startswith("Computing 24 % of 500 µs; ")


def test_gpus_that_do_hardly_anything_are_not_counted_without_a_word() -> None:
    """They stand in the list of GPUs beside those that work."""
    told = "on GPU 0, which computes least of 2 busy ones;"
    assert told in _said(median_ns=490_000, one_of=2, has_others=True)
    assert told not in _said(median_ns=490_000, one_of=2)
