"""The sentence that says how well a GPU is used."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.diagnosis.answer import Row
from tensorboard_plugin_dlprof.diagnosis.culprit import place_of_most
from tensorboard_plugin_dlprof.diagnosis.headline import Longest, headline, without_gpu
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
    longest: Longest | None = None,
    missing_ns: int = 0,
    lacks_work: bool = False,
    lacks_launches: bool = False,
) -> str:
    return headline(
        sum(parts.values()),
        dict.fromkeys(Part, 0) | parts,
        marked=marked,
        unit="Tensor Core",
        missing_ns=missing_ns,
        is_lower_bound=at_least,
        lacks_work=lacks_work,
        lacks_launches=lacks_launches,
        median_ns=median_ns,
        longest=longest,
        whose=whose,
        where=lambda part: (places or {}).get(part, ""),
    )


def test_a_mean_that_few_long_iterations_make_is_said_to_be_one() -> None:
    """No iteration takes as long; the median says what most of them take."""
    on_average = "Computing 24.0 % of a 500 µs iteration on average (median 150 µs)"
    assert _said(median_ns=150_000).startswith(f"{on_average}; ")
    assert _said(median_ns=150_000, whose="on GPU 0").startswith(f"{on_average} on GPU 0; ")
    assert _said(median_ns=490_000).startswith("Computing 24.0 % of a 500 µs iteration; ")


def test_one_iteration_that_takes_most_of_the_time_is_told_beside_the_median() -> None:
    """The mean is neither's: it comes last, with what is computed of it."""
    longest = Longest("8", 5_000_000, {Part.COMPUTE_OTHER: 100_000, Part.HOST_CODE: 4_900_000}, 0, 0.6)
    said = "The median iteration takes 150 µs; iteration 8 alone took 5.00 ms, 4.90 ms of it other code on the CPU."
    assert _said(median_ns=150_000, longest=longest) == f"{said} On average, computing 24.0 % of 500 µs."
    assert _said(median_ns=150_000, longest=longest, whose="on GPU 0").endswith(
        "On average on GPU 0, computing 24.0 % of 500 µs."
    )
    queued = longest._replace(parts_ns={Part.QUEUED: 3_000_000, Part.COMPUTE_OTHER: 2_000_000})
    assert "3.00 ms of it queued work." in _said(median_ns=150_000, longest=queued)
    missing = queued._replace(missing_ns=2_900_000)
    assert "3.00 ms of it queued work." in _said(median_ns=150_000, longest=missing)
    assert "2.90 ms of it not known to be idle, as GPU work is missing from this recording. On average" in _said(
        median_ns=150_000, longest=missing, lacks_work=True
    )
    for median_ns, each in ((170_000, longest), (150_000, longest._replace(share=0.4))):
        assert _said(median_ns=median_ns, longest=each).startswith("Computing 24.0 % of a 500 µs iteration on average")


def test_without_gpu_work_it_says_what_the_host_does() -> None:
    """By group of ops, as the table below it; threads work at the same time, so that an iteration may be shorter."""
    groups = [("/all_reduce", "", 2_135_455_920), ("/backward", "", 36_437_985), ("/linear", "", 135_000_000)]
    start = "This recording holds no GPU work."
    takes = "takes most of the CPU time of its ops, summed over all threads"
    assert without_gpu(groups, 5, 3_000_000_000) == f"{start} `/all_reduce` {takes}: 427 ms per iteration (92.6 %)."
    assert without_gpu(groups, 0, 3_000_000_000) == f"{start} `/all_reduce` {takes}: 2.14 s (92.6 %)."
    assert "takes the largest part of the CPU time" in without_gpu(
        [("/a", "forward", 4), ("/b", "", 3), ("/c", "", 3)], 1, 10
    )
    assert without_gpu([], 5, 10) == without_gpu([("/a", "", 1)], 5, 1_000) == start


def test_the_cpu_time_of_one_pass_is_not_said_to_be_that_of_the_op() -> None:
    """Each pass is a row of the table below the sentence: the two together take more."""
    passes = [("/conv2d", "forward", 134), ("/conv2d", "backward", 188), ("/relu", "forward", 100)]
    said = "The backward pass of `/conv2d` takes the largest part of the CPU time"
    assert said in without_gpu(passes, 1, 1_000)
    assert " `/conv2d` takes most of the CPU time" in without_gpu(passes[1:], 1, 1_000)


def test_queued_work_is_one_time_whatever_it_waits_for() -> None:
    """As the bar has it; what nothing recorded explains is said of it where it is most."""
    parts = {Part.COMPUTE_OTHER: 2_000_000, Part.QUEUED: 53_600_000, Part.LAUNCHING: 7_000_000}
    said = "Computing 3.2 % of a 62.6 ms iteration; queued work costs most of the rest: 53.6 ms (85.6 %)."
    assert _said(parts, missing_ns=20_000_000) == said
    assert _said(parts, missing_ns=53_400_000) == f"{said} Mostly for reasons that were not recorded."


def test_where_gpu_work_is_missing_the_gpu_is_not_said_to_be_idle() -> None:
    """A finding says that it is, which the sentence may not contradict; but of the part that it names."""
    parts = {Part.COMPUTE_OTHER: 2_000_000, Part.QUEUED: 53_600_000, Part.LAUNCHING: 7_000_000}
    assert _said(parts, missing_ns=53_400_000, lacks_work=True, at_least=True) == (
        "Computing at least 3.2 % of a 62.6 ms iteration; GPU work is missing from this recording, and may fill "
        "53.4 ms (85.3 %) that look idle."
    )
    assert "; queued work costs " in _said(parts, missing_ns=20_000_000, lacks_work=True)
    launching = parts | {Part.LAUNCHING: 60_000_000}
    assert "; launching costs " in _said(launching, missing_ns=53_400_000, lacks_work=True)
    assert _said(launching, missing_ns=53_400_000, lacks_work=True, lacks_launches=True).endswith(
        "; GPU work is missing from this recording throughout, so what takes the rest is not known."
    )


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
        (0.5, 0.5, 90, "nearly all of it in unknown kernels"),
        (0, 91, 0, "none of it on Tensor Cores"),
        (0, 0, 91, "whether on Tensor Cores is not known"),
        (0.9, 90.1, 0, "nearly all of it in other kernels"),
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
    assert _said(places={Part.HOST_CODE: " In /train.", Part.LAUNCHING: " In /linear."}).endswith("). In /train.")
    assert not _said(places={Part.LAUNCHING: " In /linear."}).endswith("/linear.")
    queued = {Part.COMPUTE_OTHER: 40_000, Part.QUEUED: 60_000}
    assert _said(queued, places={Part.QUEUED: " Mostly hipLaunchKernel."}).endswith("(60.0 %).")


@pytest.mark.parametrize(
    ("part", "path", "call", "time_ns", "place"),
    [
        (Part.BLOCKED, "/train/linear", "cudaFree", 20, " Mostly `cudaFree` in `/train/linear`."),
        (Part.LAUNCHING, "/train/linear", "", 10, " Mostly in `/train/linear`."),
        (Part.LAUNCHING, "/train/linear", "", 9, " Of that, 45.0 % is in `/train/linear`."),
        (Part.BLOCKED, "/", "cudaFree", 6, " Of that, 30.0 % is `cudaFree`."),
        (Part.BLOCKED, "/", "cudaFree", 5, ""),
        (Part.LAUNCHING, "/", "", 20, ""),
        (Part.UNRECORDED, "", "cudaMemcpyAsync", 20, " Mostly before `cudaMemcpyAsync`."),
        (Part.DATA_LOADER, "/fit/enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "", 20, ""),
        (Part.DATA_LOADER, "data.py(7): __getitem__", "", 20, " Mostly in `data.py(7): __getitem__`."),
    ],
)
def test_a_place_has_a_name_and_a_fair_share_of_the_time(
    part: Part, path: str, call: str, time_ns: int, place: str
) -> None:
    """Below half of it, the share is told; rows of one place count together, whichever thread they are of."""
    cause = Cause(int(part), "", call, path, "op", "", "", False, 0)
    other = Cause(int(part), "", call, path, "op", "", "thread 2", False, 0)
    rows = [Row(cause, 1, 2, 0, (0, 2)), Row(other, 1, time_ns - 2, 0, (0, time_ns - 2))]
    assert place_of_most(rows, 20) == place
