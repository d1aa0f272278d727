"""The sentence that says how well a GPU is used."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.diagnosis.answer import Row, place_of_most
from tensorboard_plugin_dlprof.diagnosis.headline import headline
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause

_LITTLE = {Part.COMPUTE_OTHER: 120_000, Part.HOST_CODE: 300_000, Part.LAUNCHING: 80_000}


def _said(
    parts: dict[Part, int] = _LITTLE,
    *,
    marked: bool = True,
    median_ns: int = 0,
    whose: str = "",
    at_least: bool = False,
    places: dict[Part, str] | None = None,
) -> str:
    return headline(
        sum(parts.values()),
        dict.fromkeys(Part, 0) | parts,
        marked=marked,
        unit="Tensor Core",
        missing_ns=0,
        is_lower_bound=at_least,
        lacks_work=False,
        median_ns=median_ns,
        whose=whose,
        places=places or {},
    )


def test_a_mean_that_few_long_iterations_make_is_said_to_be_one() -> None:
    """No iteration takes as long; the median says what most of them take."""
    on_average = "Computing 24.0 % of a 500 µs iteration on average (median 150 µs)"
    assert _said(median_ns=150_000).startswith(f"{on_average}; ")
    assert _said(median_ns=150_000, whose="on GPU 0").startswith(f"{on_average} on GPU 0; ")
    assert _said(median_ns=490_000).startswith("Computing 24.0 % of a 500 µs iteration; ")


@pytest.mark.parametrize(
    ("wall_us", "marked", "whole"),
    [
        (823, True, "an 823 µs iteration"),
        (18_300, True, "an 18.3 ms iteration"),
        (118_000, True, "a 118 ms iteration"),
        (160_000, False, "the 160 ms from first to last GPU work"),
    ],
)
def test_it_says_what_the_time_is(wall_us: int, marked: bool, whole: str) -> None:
    """An iteration, or all that was recorded; copies alone are no computing."""
    compute = wall_us * 500
    said = _said({Part.COMPUTE_OTHER: compute, Part.IO: compute}, marked=marked)
    assert said.startswith(f"Computing 50.0 % of {whole}; ")
    assert _said({Part.COPY: compute, Part.IO: compute}, marked=marked) == f"Only copies: 50.0 % of {whole}."


@pytest.mark.parametrize(
    ("tensor", "other", "unknown", "what"),
    [
        (33, 58, 0, "33.0 % on Tensor Cores, 58.0 % in other kernels"),
        (30, 30, 31, "30.0 % on Tensor Cores, 30.0 % in other kernels, 31.0 % in unknown kernels"),
        (91, 0, 0, "all of it on Tensor Cores"),
        (0, 91, 0, "none of it on Tensor Cores"),
        (0, 0, 91, "whether on Tensor Cores is not known"),
        (0.9, 90.1, 0, "90.1 % in other kernels"),
    ],
)
def test_where_a_gpu_computes_nearly_always_it_says_what(tensor: float, other: float, unknown: int, what: str) -> None:
    """That is what most of the time is; what else takes little is not named."""
    parts = {Part.COMPUTE_TENSOR: tensor, Part.COMPUTE_OTHER: other, Part.COMPUTE_UNKNOWN: unknown}
    of_rest = {Part.QUEUED: 4, Part.LAUNCHING: 3, Part.BLOCKED: 2}
    said = _said({part: int(percent * 1_000_000) for part, percent in (parts | of_rest).items()})
    assert said == f"Computing 91.0 % ({what}) of a 100 ms iteration; nothing else takes more than 4 %."


def test_what_takes_the_largest_part_of_a_small_rest_is_named() -> None:
    """From a twentieth of the time on."""
    parts = {Part.COMPUTE_TENSOR: 85_000, Part.COMMUNICATION: 6_000, Part.IO: 4_500, Part.LAUNCHING: 4_500}
    assert _said(parts, at_least=True) == (
        "Computing at least 85.0 % (all of it on Tensor Cores) of a 100 µs iteration; exposed communication costs the "
        "largest part of the rest: 6.00 µs (6.0 %)."
    )


def test_the_place_is_that_of_what_costs_most() -> None:
    """The place of another part is not named for it, nor one for queued work, which no call holds up."""
    assert _said(places={Part.HOST_CODE: "in /train", Part.LAUNCHING: "in /linear"}).endswith(". Mostly in /train.")
    assert not _said(places={Part.LAUNCHING: "in /linear"}).endswith("/linear.")
    queued = {Part.COMPUTE_OTHER: 40_000, Part.QUEUED: 60_000}
    assert "Mostly" not in _said(queued, places={Part.QUEUED: "hipLaunchKernel"})


@pytest.mark.parametrize(
    ("path", "call", "time_ns", "place"),
    [
        ("/train/linear", "cudaFree", 20, "`cudaFree` in `/train/linear`"),
        ("/train/linear", "", 20, "in `/train/linear`"),
        ("/", "cudaFree", 20, "`cudaFree`"),
        ("/", "", 20, ""),
        ("/train/linear", "cudaFree", 9, ""),
    ],
)
def test_a_place_has_half_of_the_time_and_a_name(path: str, call: str, time_ns: int, place: str) -> None:
    """One of less than half is not named for most of it."""
    cause = Cause(int(Part.LAUNCHING), "", call, path, "op", "", "", False, 0)
    assert place_of_most([Row(cause, 1, time_ns, 0, (0, time_ns))], Part.LAUNCHING, 20) == place
