"""Finds the profiles that are worth comparing with: those whose GPU time is in the same ops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypedDict

from tensorboard_plugin_dlprof.runs.profile import ListedProfile

LEAST_OF_ONE, LEAST_OF_BOTH = 0.75, 0.25
"""Shares of the GPU time of one profile, and of both, that ops which both have must take. Of recorded pairs of one
program, of other options, batch sizes, GPUs or phases, 88 % and 32 % were the least; different programs whose ops stand
in no module have up to 64 % of one in common."""

LEAST_OF_ONE_PROGRAM = 0.75
"""Share of the GPU time of each of both, from which they are called runs of one program: VGG and ResNet share 67 % of
one and 96 % of the other, since both are of convolutions."""

MOST_READ = 200
"""Profiles whose ops are read, the nearest first."""

_MOST = 4

LEAST_OF_KERNELS = 0.9
"""Share of the kernel time that kernels of one name must take of both alike where one profile names no ops. Of recorded
pairs that of one program has 100 %, that of two programs with the most 74 %."""


class GpuTimes(NamedTuple):
    """What the GPU time of a profile is spent in (ns)."""

    of_ops: Mapping[str, int]
    """By group of ops (``op_paths``)."""
    of_kernels: Mapping[str, int] = {}
    """By the name of the kernel."""
    in_no_op: int = 0
    """Of kernels that are in no op."""

    @property
    def is_of_kernels(self) -> bool:
        """Whether its kernels tell more of it than its ops: most are in no op, and they are not few beside graphs."""
        kernels = sum(self.of_kernels.values())
        return self.in_no_op > kernels / 2 and kernels >= LEAST_OF_BOTH * sum(self.of_ops.values())


class LikelyBaseline(TypedDict):
    """A profile that is worth comparing with."""

    profile: str
    """Its id."""
    shared_fraction: float
    """Share of the GPU time of the profile that was asked about in groups of ops that both have; where one names no
    ops, of the kernel time of both that kernels of one name take alike."""
    same_program: bool
    """Whether that is most of the time of both, so that they are runs of one program."""


class LikelyBaselines(TypedDict):
    """The most likely baselines of a profile, the best first."""

    baselines: list[LikelyBaseline]
    related: list[str]
    """Ids of all runs of the same program, the profile's own too."""
    compared: int
    """With how many other profiles it was compared; nothing is known of those that are not imported."""


def candidates(profiles: Iterable[ListedProfile], profile: ListedProfile) -> list[ListedProfile]:
    """The other profiles of the same rank, those first whose runs have most folders in common with the profile's."""
    parts = profile.run.split("/")

    def apart(other: ListedProfile) -> int:
        others = other.run.split("/")
        same = next((i for i, (a, b) in enumerate(zip(parts, others, strict=False)) if a != b), None)
        return -(min(len(parts), len(others)) if same is None else same)

    alike = [one for one in profiles if one.profile_id != profile.profile_id and one.rank == profile.rank]
    return sorted(alike, key=apart)[:MOST_READ]


def likely(own: str, times: GpuTimes, others: Iterable[tuple[str, GpuTimes]]) -> LikelyBaselines:
    """The most likely baselines of a profile.

    Args:
        own: the id of the profile.
        others: of other profiles by their ids, the nearest first.
    """
    known: list[LikelyBaseline] = []
    compared = 0
    for profile, of_other in others:
        compared += 1
        shared, of_its_own = _shared(times, of_other)
        if max(shared, of_its_own) >= LEAST_OF_ONE and min(shared, of_its_own) >= LEAST_OF_BOTH:
            same = min(shared, of_its_own) >= LEAST_OF_ONE_PROGRAM
            known.append({"profile": profile, "shared_fraction": shared, "same_program": same})
    # Of equally good ones the nearest first.
    best = sorted(known, key=lambda one: (not one["same_program"], -round(one["shared_fraction"], 1)))
    related = [own, *(one["profile"] for one in known if one["same_program"])]
    return {"baselines": best[:_MOST], "related": related, "compared": compared}


def _shared(one: GpuTimes, other: GpuTimes) -> tuple[float, float]:
    """Shares of the time of each in what both have."""
    if one.is_of_kernels or other.is_of_kernels:
        a, b = one.of_kernels, other.of_kernels
        alike = sum(min(_share(a, [name]), _share(b, [name])) for name in a.keys() & b.keys())
        return (alike, alike) if alike >= LEAST_OF_KERNELS else (0.0, 0.0)
    both = one.of_ops.keys() & other.of_ops.keys()
    return _share(one.of_ops, both), _share(other.of_ops, both)


def _share(times: Mapping[str, int], keys: Iterable[str]) -> float:
    whole = sum(times.values())
    return sum(times[key] for key in keys) / whole if whole > 0 else 0.0
