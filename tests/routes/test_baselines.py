"""Which profiles are worth comparing with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.routes.baselines import candidates, likely
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tests.routes.serving import Server
from tests.routes.test_documentation import example, same_shape

TIMES = {"/m/linear forward": 60, "/m/add forward": 40}


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
    found = likely("own", TIMES, [("other", other)])["baselines"]
    assert [one["shared_fraction"] for one in found] == ([] if shared is None else [shared])
    assert likely("own", {}, [("other", other)]) == {"baselines": [], "related": ["own"], "compared": 1}


def test_the_best_come_first_and_of_equal_ones_the_nearest() -> None:
    """At most four; a series takes them all, and the profile itself."""
    others = [("less", {"/m/linear forward": 1}), ("near", TIMES), *((name, TIMES) for name in "abc")]
    assert [one["profile"] for one in likely("own", TIMES, others)["baselines"]] == ["near", "a", "b", "c"]
    unlike = ("unlike", {"/n/linear forward": 100})
    assert likely("own", TIMES, [*others, unlike])["related"] == ["own", "near", "a", "b", "c"]


def test_one_program_has_most_of_the_time_of_both_in_the_same_ops() -> None:
    """Another network of the same kinds of ops is told from another run, whichever of both is asked about."""
    resnet, vgg = {"conv": 67, "batch_norm": 33}, {"conv": 96, "linear": 4}
    for own, other in ((resnet, vgg), (vgg, resnet)):
        (found,) = likely("own", own, [("other", other)])["baselines"]
        assert not found["same_program"]
    (found,) = likely("own", resnet, [("other", {"conv": 5, "batch_norm": 2, "cast": 1})])["baselines"]
    assert found["same_program"]


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
