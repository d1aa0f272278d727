"""Rows are summed over the repetitions of a model, as the pages sum ops."""

from __future__ import annotations

import pytest
from hypothesis import given

from tensorboard_plugin_dlprof.comparing.as_json import as_json
from tensorboard_plugin_dlprof.comparing.comparison import compare
from tensorboard_plugin_dlprof.comparing.tables import rows_of_tables
from tensorboard_plugin_dlprof.comparing.words import short_path, told_apart
from tensorboard_plugin_dlprof.comparing.writing import html, markdown, text
from tests.comparing.ops import op, recording
from tests.comparing.test_attribution import LENGTHS, OPS


@given(OPS, OPS, LENGTHS, LENGTHS)
def test_groups_add_up_to_the_change_and_hold_each_row_once(
    a: list[object], b: list[object], of_a: list[int], of_b: list[int]
) -> None:
    """Of any pair, with marked iterations and without."""
    result = compare([recording(a, iterations=of_a)], [recording(b, iterations=of_b)])  # type: ignore[arg-type]
    data = as_json(result)
    for key in ("a_ns", "b_ns", "change_ns"):
        assert sum(group[key] for group in data["groups"]) == sum(row[key] for row in data["rows"])
    positions = [position for group in data["groups"] for position in group["positions"]]
    assert sorted(positions) == [row["position"] for row in data["rows"]]
    assert len({group.key for group in result.groups}) == len(result.groups)


def test_repeated_layers_are_one_group_by_direction() -> None:
    """From two layers to three, a new one among them; the backward pass is a group of its own."""
    a = [op(f"/m/layer{i}/linear", 100) for i in range(2)]
    a += [op("/m/layer0/linear", 50, direction="bprop", start_ns=9)]
    b = [op(f"/m/layer{i}/linear", 90) for i in range(3)]
    b += [op("/m/layer0/linear", 70, direction="bprop", start_ns=9)]
    data = as_json(compare([recording(a, iterations=[1000])], [recording(b, iterations=[1110])]))
    groups = {(group["name"], group["direction"]): group for group in data["groups"]}
    forward, backward = groups["/m/layer*/linear", "forward"], groups["/m/layer*/linear", "backward"]
    assert (forward["a_ops"], forward["b_ops"], forward["a_ns"], forward["b_ns"]) == (2, 3, 200, 270)
    assert (forward["work_ns"], forward["speed_ns"]) == (90, -20)
    assert backward["change_ns"] == 20
    assert forward["of_change_fraction"] == 70 / 110
    assert {group["direction"] for group in data["groups"]} == {"forward", "backward", None}


def test_ops_of_one_side_are_grouped_apart_from_those_of_both() -> None:
    """One more layer in B: its op is new, though its group is in A too."""
    a, b = ([op(f"/m/layer{i}/linear", 100) for i in range(layers)] for layers in (2, 3))
    columns, rows = rows_of_tables(compare([recording(a)], [recording(b)]))["compare_new"]
    (row,) = [dict(zip(columns, row, strict=True)) for row in rows]
    assert (row["name"], row["a_ops"], row["b_ops"], row["change_ns"]) == ("/m/layer*/linear", 0, 1, 100)


def test_shares_of_a_change_that_cancels_out_are_unknown() -> None:
    """Of +100 and -80 ns, 20 are left: 500 % and -400 % of it would mislead."""
    a, b = [op("/m/a", 100), op("/m/b", 100)], [op("/m/a", 200), op("/m/b", 20)]
    comparison = compare([recording(a)], [recording(b)])
    assert {group.name: group.change_ns for group in comparison.groups} == {"/m/a": 100, "/m/b": -80}
    assert [group.of_change for group in comparison.groups] == [None, None]


def test_a_group_is_tested_as_a_whole() -> None:
    """Two layers whose samples swap: each changes clearly, their sum does not."""
    iterations = [1000] * 4
    a = [op("/m/layer0/x", 400, samples=[100] * 4), op("/m/layer1/x", 800, samples=[200] * 4)]
    b = [op("/m/layer0/x", 800, samples=[200] * 4), op("/m/layer1/x", 400, samples=[100] * 4)]
    comparison = compare([recording(a, iterations=iterations)], [recording(b, iterations=iterations)])
    data = as_json(comparison)
    assert (data["tested_rows"], data["changed_rows"]) == (2, 2)
    assert (data["tested_groups"], data["changed_groups"]) == (1, 0)
    (group,) = (group for group in data["groups"] if group["name"] == "/m/layer*/x")
    assert group["interval"] == [1, 1]
    a[0].samples = []
    data = as_json(compare([recording(a, iterations=iterations)], [recording(b, iterations=iterations)]))
    assert data["tested_groups"] == 0


def test_reports_rank_groups_within_the_width_of_a_terminal() -> None:
    """As text, Markdown and HTML."""
    path = "/model/decoder/a_module_with_a_long_name/another_with_a_long_name/layer{}/attention/linear"
    a, b = ([op(path.format(i), time) for i in range(24)] for time in (100, 200))
    pairs = [(compare([recording(a)], [recording(b)]), [])]
    written = text(pairs, 5)
    assert "/model/…/layer*/attention/linear forward ×24" in written
    assert max(map(len, written.splitlines())) <= 100
    for write in (markdown, html):
        assert f"{path.format('#')} forward ×24".replace("_", "\\_") in write(pairs, 5) or "×24" in write(pairs, 5)


def test_kernels_are_told_apart_by_what_differs() -> None:
    """What both begin with gives way; short names stay."""
    a, b = (f"sm80_xmma_fprop_implicit_gemm_{types}_nhwc" for types in ("f32f32", "f16f16"))
    assert told_apart(a, b, 20) == ("…f32f32_nhwc", "…f16f16_nhwc")
    assert told_apart("sgemm_nn", "sgemm_nt", 20) == ("sgemm_nn", "sgemm_nt")


def test_times_of_a_table_share_a_unit_that_its_heads_name() -> None:
    """1.5 ms beside 20 µs, as text, Markdown and HTML; sentences are set."""
    a, b = [op("/m/a", 1_500_000), op("/m/b", 20_000)], [op("/m/a", 1_000_000), op("/m/b", 30_000)]
    pairs = [(compare([recording(a)], [recording(b)]), [])]
    assert "Change (ms)     A (ms)     B (ms)" in text(pairs, 5)
    assert "     +0.010      0.020      0.030" in text(pairs, 5)
    assert "| +0.010 | 0.020 | 0.030 |" in markdown(pairs, 5)
    written = html(pairs, 5)
    assert "<td>+0.010</td><td>0.020</td><td>0.030</td>" in written
    assert "`" not in written
    assert "-&gt;" not in written


@pytest.mark.parametrize(
    ("path", "most", "short"),
    [
        ("/model/linear", 20, "/model/linear"),
        ("/model/encoder/layer/attention/linear", 30, "/model/…/attention/linear"),
        ("/model/encoder/layer/attention/linear", 20, "/model/…/linear"),
        ("model/encoder/linear", 15, "model/…/linear"),
        ("/model/a_long_name", 9, "a_l…_name"),
    ],
)
def test_paths_are_cut_at_their_slashes(path: str, most: int, short: str) -> None:
    """The first and the last parts stay."""
    assert short_path(path, most) == short


def test_ops_are_not_counted_where_both_sides_tell_them_apart_otherwise() -> None:
    """One op with 150 calls is no other program than 150 ops with one each, and their numbers say nothing."""
    a = recording([op("m/linear", 150, calls=150)])
    b = recording([op("m/linear", 1, shapes=f"[[{size}]]") for size in range(1, 151)])
    (group,) = (one for one in compare([a], [b]).groups if one.a)
    assert (len(group.a), len(group.b)) == (1, 150)
    assert group.counts == (None, None)
    (twice,) = (one for one in compare([a], [recording([op("m/linear", 300, calls=300)])]).groups if one.a)
    assert twice.counts == (1, 1)


def test_kernels_are_not_counted_as_ops() -> None:
    """Where A has no ops, kernels of a name are a row; each is one, which says nothing."""
    a = recording([op("unassociated_linear_kernel", 100, kernel="linear_kernel", associated=False)])
    b = recording([op("m/linear", 90)])
    (group,) = compare([a], [b]).groups
    assert (group.name, group.counts) == ("linear_kernel", (None, None))


def test_overlap_is_behind_all_that_is_a_cause() -> None:
    """Kernels that run at once take 600 ns less than they add up to in A: nothing that could be mended."""
    a = recording([op("/m/a", 1000)], iterations=[500], parts={"compute_other": 400, "launching": 100})
    b = recording([op("/m/a", 990)], iterations=[1100], parts={"compute_other": 1000, "launching": 100})
    comparison = compare([a], [b])
    columns, rows = rows_of_tables(comparison)["compare_groups"]
    sizes = {row[0]: row[columns.index("size_ns")] for row in rows}
    assert sizes == {"/m/a": 10, "Overlap and boundaries": None, "Launching": 0}
    told = text([(comparison, [])], 3)
    assert told.index("/m/a") < told.index("Launching") < told.index("Overlap and boundaries")
