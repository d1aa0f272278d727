"""Ops of A are paired with those of B in tiers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tensorboard_plugin_dlprof.comparing import matching
from tensorboard_plugin_dlprof.comparing.matching import Match, match_ops
from tensorboard_plugin_dlprof.comparing.names import normal_kernel_name
from tensorboard_plugin_dlprof.comparing.recording import Op
from tests.comparing.ops import op


def tiers(a: Sequence[Op], b: Sequence[Op]) -> list[tuple[str, int, int]]:
    """How many ops each match has, by tier, after checking that every op is in exactly one."""
    result = match_ops(a, b)
    for side, ops in ((left_of(result), a), (right_of(result), b)):
        assert sorted(map(id, side)) == sorted(map(id, ops))
    return sorted((match.matched_by, len(match.a), len(match.b)) for match in result)


def left_of(result: Sequence[Match]) -> list[Op]:
    """All ops of A in matches."""
    return [one for match in result for one in match.a]


def right_of(result: Sequence[Match]) -> list[Op]:
    """All ops of B in matches."""
    return [one for match in result for one in match.b]


def test_equal_paths_and_shapes_are_paired_in_order() -> None:
    """Then equal paths; names may be of any script."""
    a = [op("/模型/linear", shapes="[[8]]"), op("/m/conv", shapes="[[8]]")]
    b = [op("/模型/linear", shapes="[[8]]"), op("/m/conv", shapes="[[16]]")]
    assert tiers(a, b) == [(matching.PATH, 1, 1), (matching.PATH_AND_SHAPE, 1, 1)]


def test_unequal_numbers_of_ops_of_one_path_are_a_group() -> None:
    """Two of A against three of B."""
    assert tiers([op("/m/add")] * 1 + [op("/m/add")], [op("/m/add") for _ in range(3)]) == [(matching.SEVERAL, 2, 3)]


def test_twice_as_many_layers() -> None:
    """Layers 0 and 1 against 0 to 3: ops that only B has are new; renumbered layers match without their numbers."""
    a = [op(f"/m/layer{place}/mm", shapes="[[4]]") for place in range(2)]
    b = [op(f"/m/layer{place}/mm", shapes="[[4]]") for place in range(4)]
    assert tiers(a, b) == [(matching.NEW, 0, 1), (matching.NEW, 0, 1), *[(matching.PATH_AND_SHAPE, 1, 1)] * 2]
    renumbered = [op(f"/m/layer{place + 10}/mm", shapes="[[4]]") for place in range(4)]
    assert tiers(a, renumbered) == [(matching.WITHOUT_NUMBERS, 2, 4)]


def test_a_renamed_module_is_found_by_type_and_shape() -> None:
    """Where shapes were recorded."""
    a = [op("/encoder/mm", shapes="[[4]]"), op("/encoder/relu", shapes="[[4]]")]
    b = [op("/backbone/mm", shapes="[[4]]"), op("/backbone/relu", shapes="[[4]]")]
    assert tiers(a, b) == [(matching.TYPE_AND_SHAPE, 1, 1)] * 2


def test_what_was_replaced_below_a_path_is_one_row() -> None:
    """Three ops of A against one fused op of B; ops without GPU time do not take part."""
    a = [op("/m/attention/bmm"), op("/m/attention/softmax"), op("/m/attention/core/div"), op("/m/attention/view", 0)]
    b = [op("/m/attention/flash")]
    assert tiers(a, b) == [(matching.GONE, 1, 0), (matching.BELOW, 3, 1)]


def test_kernels_outside_of_ops_are_matched_by_name_and_family() -> None:
    """Another tile, then another library."""
    a = [op("sgemm_128x64_tn", kernel="sgemm_128x64_tn", associated=False)]
    b = [op("sgemm_64x64_tn", kernel="sgemm_64x64_tn", associated=False)]
    c = [op("Cijk_Ailk", kernel="Cijk_Ailk", associated=False)]
    assert tiers(a, b) == [(matching.KERNEL_NAME, 1, 1)]
    assert tiers(a, c) == [(matching.KERNEL_FAMILY, 1, 1)]


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("volta_sgemm_128x64_tn", "volta_sgemm_tn"),
        ("void at::native::(anonymous namespace)::copy<float, (int)4>(int, T2)", "copy"),
        ("void cutlass::Kernel2<a<b>, c>(d)", "Kernel2"),
        ("a<b", "a"),
        ("<", "<"),
    ],
)
def test_normal_kernel_names(name: str, normal: str) -> None:
    """Without what changes from build to build."""
    assert normal_kernel_name(name) == normal


def test_kernels_in_no_op_are_matched_by_name() -> None:
    """Their path is nothing else; a path of an op that holds one stays a path."""
    a = [op("unassociated_relu_kernel", associated=False), op("unassociated_add_1", associated=False), op("/m/add")]
    b = [op("unassociated_relu_kernel", associated=False), op("unassociated_add_2", associated=False), op("/m/add")]
    assert tiers(a, b) == [(matching.KERNEL_NAME, 1, 1)] * 2 + [(matching.PATH_AND_SHAPE, 1, 1)]


def test_hostile_paths_take_no_time() -> None:
    """A thousand levels, and as many ops."""
    deep = "/x" * 1_000
    assert len(match_ops([op(f"{deep}/{n}/a") for n in range(500)], [op(f"{deep}/{n}/b") for n in range(500)])) == 1
