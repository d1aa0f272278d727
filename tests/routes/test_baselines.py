"""Which profiles are worth comparing with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.routes.baselines import GpuTimes, candidates, likely
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tests.routes.serving import Server
from tests.routes.test_documentation import example, same_shape

TIMES = {"/m/linear forward": 60, "/m/add forward": 40}
OWN = GpuTimes(TIMES)


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        (TIMES, 1.0),
        ({"/m/linear forward": 30, "/m/linear backward": 70}, None),  # 60 % and 30 %
        ({**TIMES, "/m/linear backward": 200}, 1.0),  # the backward pass besides
        ({**TIMES, "/m/linear backward": 900}, None),  # only 10 % of the other
        ({"/m/linear forward": 10}, 0.6),
        ({"/n/linear forward": 100}, None),
        ({}, None),
    ],
)
def test_related_profiles_have_most_gpu_time_in_the_same_ops(other: dict[str, int], shared: float | None) -> None:
    """Most of one and some of both."""
    found = likely("own", OWN, [("other", GpuTimes(other))])["baselines"]
    assert [one["shared_fraction"] for one in found] == ([] if shared is None else [shared])
    assert likely("own", GpuTimes({}), [("other", GpuTimes(other))]) == {
        "baselines": [],
        "related": ["own"],
        "compared": 1,
    }


def test_the_best_come_first_and_of_equal_ones_the_nearest() -> None:
    """At most four; a series takes them all, and the profile itself."""
    others = [("less", GpuTimes({"/m/linear forward": 1})), ("near", OWN), *((name, OWN) for name in "abc")]
    assert [one["profile"] for one in likely("own", OWN, others)["baselines"]] == ["near", "a", "b", "c"]
    unlike = ("unlike", GpuTimes({"/n/linear forward": 100}))
    assert likely("own", OWN, [*others, unlike])["related"] == ["own", "near", "a", "b", "c"]


def test_one_program_has_most_of_the_time_of_both_in_the_same_ops() -> None:
    """Another network of the same kinds of ops is told from another run, whichever of both is asked about."""
    resnet, vgg = {"conv": 67, "batch_norm": 33}, {"conv": 96, "linear": 4}
    for own, other in ((resnet, vgg), (vgg, resnet)):
        (found,) = likely("own", GpuTimes(own), [("other", GpuTimes(other))])["baselines"]
        assert not found["same_program"]
    (found,) = likely("own", GpuTimes(resnet), [("other", GpuTimes({"conv": 5, "batch_norm": 2, "cast": 1}))])[
        "baselines"
    ]
    assert found["same_program"]


@pytest.mark.parametrize(
    ("kernels", "copies", "same"),
    [
        ({"gemm": 180, "add": 20}, 500, True),  # twice as often
        ({"gemm": 70, "add": 20, "softmax": 10}, 0, False),  # 80 %: another program on the same library
        ({"gemm": 9, "add": 1}, 0, True),
        ({"gemm": 9, "add": 1}, 50, False),  # 83 % of it in CUDA graphs, say, of which the kernels tell nothing
    ],
)
def test_without_ops_kernels_must_take_their_time_alike(kernels: dict[str, int], copies: int, same: bool) -> None:
    """Names of kernels are those of a library, and any two programs copy: only how much each takes tells a program."""
    named = GpuTimes({"/m/linear forward": 90, "/m/add forward": 10}, {"gemm": 90, "add": 10})
    bare = GpuTimes(
        {"unassociated_copy ": copies, "unassociated_gemm ": sum(kernels.values())}, kernels, sum(kernels.values())
    )
    for own, other in ((named, bare), (bare, named)):
        found = likely("own", own, [("other", other)])["baselines"]
        assert [one["same_program"] for one in found] == ([True] if same else [])


def test_candidates_are_of_the_same_rank_and_the_nearest_first() -> None:
    """By the folders of their runs; a profile is no baseline of itself."""

    def listed(run: str, rank: int | None = None) -> ListedProfile:
        return ListedProfile(f"{run} {rank}", run, "a", "pytorch", rank=rank)

    profile = listed("x/y/z")
    others = [listed("w"), listed("x"), listed("x/y/q"), listed("x/y/z", 3), profile]
    assert [one.run for one in candidates(others, profile)] == ["x/y/q", "x", "w"]


def test_the_route(server: Server, logdir: Path) -> None:
    """As documented; a profile of the same content is found, those without a database are not asked."""
    made = logdir / "run" / "a" / "made.dlprof_dldb.sqlite"
    (logdir / "other").mkdir()
    (logdir / "other" / "again.dlprof_dldb.sqlite").write_bytes(made.read_bytes())
    server.rescan()
    profile, again = (server.profile(name)["id"] for name in (made.name, "again.dlprof_dldb.sqlite"))
    answer = server.get(f"/compare_baselines?profile={profile}").json
    same_shape(example("## GET ./compare_baselines"), answer, "baselines")
    related = [profile, again]
    assert answer == {
        "baselines": [{"profile": again, "shared_fraction": 1.0, "same_program": True}],
        "related": related,
        "compared": 1,
    }
