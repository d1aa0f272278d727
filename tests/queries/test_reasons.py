"""Eligibility with its reason: one op for each cause, from the trace to the tables of ops and groups."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.efficiency import efficiency
from tensorboard_plugin_dlprof.queries.group_tree import GroupTree, group_tree
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page, stream
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import find_table
from tests.queries.profiles import SOURCES, database_of

V100 = {"id": 0, "name": "Tesla V100-SXM2-16GB", "computeMajor": 7, "computeMinor": 0, "numSms": 80}
A100 = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
P100 = {"id": 0, "name": "Tesla P100-SXM2-16GB", "computeMajor": 6, "computeMinor": 0, "numSms": 56}
MI300 = {"id": 0, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4, "numSms": 304}

SQUARE = [[4096, 4096], [4096, 4096]]
SGEMM, HGEMM, TENSOR = "ampere_sgemm_128x64_nn", "ampere_hgemm_64x64_nn", "ampere_h16816gemm_128x64_ldg8_stages_64x4_tn"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, int>(int)"
CONVOLUTION = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_tensor16x8x16_cudnn"
VECTOR_SGEMM = "Cijk_Ailk_Bljk_SB_MT64x64x8_SE_ISA942_IU1_TT4_4_WG16_16_1"
TRANSPOSE = "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false, true>(int)"


@dataclass
class Case:
    """One op and the kernels that it launches, 100 us each unless told otherwise."""

    kernels: list[str]
    data_type: str
    shapes: Any = None
    op: str = "aten::mm"
    device: Any = None
    kernel_us: int = 100

    def write(self, path: Path) -> Path:
        """The op in a module, as the PyTorch profiler records it."""
        host = {"ph": "X", "pid": 1, "tid": 1}
        shapes = SQUARE if self.shapes is None else self.shapes
        about = {"External id": 1, "Input Dims": shapes, "Input type": [self.data_type] * len(shapes)}
        events: list[dict[str, Any]] = [
            {**host, "cat": "user_annotation", "name": "model", "ts": 0, "dur": 2_000},
            {**host, "cat": "cpu_op", "name": self.op, "ts": 10, "dur": 1_000, "args": about},
        ]
        for number, name in enumerate(self.kernels):
            launch = {"correlation": number + 1, "External id": 1}
            shape = {"device": 0, "stream": 7, "grid": [4096, 1, 1], "block": [256, 1, 1]}
            start = 200 * number + 20
            events += [
                {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start, "dur": 5, "args": launch},
                {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": name, "ts": start + 10, "dur": self.kernel_us,
                 "args": {**launch, **shape}},
            ]  # fmt: skip
        trace = {"schemaVersion": 1, "deviceProperties": [self.device or A100], "traceEvents": events}
        path.write_text(json.dumps(trace))
        return path


def _database(folder: Path, case: Case) -> Path:
    database = folder / "a.dlprof_dldb.sqlite"
    import_source(case.write(folder / "a.json"), database, ImportOptions(), lambda _doing, _fraction: None)
    return database


def _rows(folder: Path, case: Case, table: str) -> list[dict[str, Any]]:
    with closing(open_database(_database(folder, case))) as connection:
        result = page(connection, find_table(table), find_scope(connection), PageRequest(limit=100))
        return [dict(row) for row in result.rows]


IMAGES = [[64, 64, 56, 56], [64, 64, 3, 3], [64], [], [], [], [], [], []]


@pytest.mark.parametrize(
    ("case", "eligibility", "cause"),
    [
        (Case([TENSOR], "c10::Half"), "eligible", None),
        (Case(["volta_dgemm_128x64_nn"], "double", device=V100), "eligible", "FP64"),
        (Case(["volta_dgemm_128x64_nn"], "double"), "eligible", "Library's choice"),
        (Case(["sgemm_128x128x8_NN_vec"], "float", device=P100), "eligible", "No matrix units"),
        (Case([VECTOR_SGEMM], "float", device=MI300), "eligible", "Library's choice"),
        (Case(["volta_sgemm_128x64_nn"], "float", device=V100), "eligible", "FP32 tensors"),
        (Case([SGEMM], "float"), "eligible", "TF32 is off"),
        (Case([HGEMM], "c10::Half", [[4096, 1001], [1001, 4096]]), "eligible", "Dimension"),
        (Case([TRANSPOSE, CONVOLUTION, TRANSPOSE], "c10::Half", IMAGES, "aten::conv2d"), "eligible", "Layout"),
        (Case([HGEMM], "c10::Half", [[64, 64], [64, 64]]), "eligible", "Too small"),
        (Case([SGEMM], "float", kernel_us=4), "eligible", "Too small"),
        (Case([HGEMM], "c10::Half"), "eligible", "Library's choice"),
        (Case(["triton_tem_fused_mm_0"], "c10::Half"), "eligible", "Unknown kernels"),
        (Case([ELEMENTWISE], "float", op="aten::relu"), "not eligible", None),
        (Case(["acme_product_kernel"], "float", op="acme::secret"), "unknown", None),
        (Case([TENSOR], "c10::Half", op="acme::secret"), "eligible", None),
    ],
)  # fmt: skip
def test_each_cause_is_told_of_an_op_that_has_only_it(
    tmp_path: Path, case: Case, eligibility: str, cause: str | None
) -> None:
    """Eligible or not, or unknown where neither type nor kernels tell; and why it does not use matrix units."""
    (row,) = _rows(tmp_path, case, "ops")
    assert (row["eligibility"], row["cause"]) == (eligibility, cause)


@pytest.mark.parametrize("kernel_us", [4, 400])
def test_nothing_could_be_on_matrix_units_that_the_gpu_does_not_have(tmp_path: Path, kernel_us: int) -> None:
    """Neither small nor large work: no time of it is kept off them, and nothing limits its kernels."""
    case = Case(["sgemm_128x128x8_NN_vec"], "float", device=P100, kernel_us=kernel_us)
    (row,) = _rows(tmp_path, case, "ops")
    assert (row["cause"], row["kept_off_ns"]) == ("No matrix units", 0)
    with closing(open_database(tmp_path / "a.dlprof_dldb.sqlite")) as connection:
        rates = efficiency(connection, find_scope(connection))
    assert [limit["limit"] for limit in rates["limits"]] == ["other"]
    assert rates["causes"] == []


@pytest.mark.parametrize(
    ("kernel", "uses", "word"),
    [(TENSOR, True, "yes"), (HGEMM, False, "no"), ("triton_tem_fused_mm_0", None, "unknown")],
)
def test_use_of_matrix_units_is_a_yes_or_no_of_the_efficiency_too(
    tmp_path: Path, kernel: str, uses: bool | None, word: str
) -> None:
    """As in the other tables, and found by the same words."""
    database = _database(tmp_path, Case([kernel], "c10::Half"))
    with closing(open_database(database)) as connection:
        table, scope = find_table("efficiency"), find_scope(connection)
        (row,) = page(connection, table, scope, PageRequest()).rows
        assert row["matrix_unit"] is uses
        for asked in ("yes", "no", "unknown"):
            result = page(connection, table, scope, PageRequest(where={"matrix_unit": asked}))
            assert len(result.rows) == (asked == word)


def test_the_dimension_and_the_padded_shape_are_named(tmp_path: Path) -> None:
    """What to pad, to what, and how the product would look."""
    (row,) = _rows(tmp_path, Case([HGEMM], "c10::Half", [[4096, 1001], [1001, 4090]]), "ops")
    assert row["dimension"] == "K 1001 -> 1008"
    assert row["padded_shape"] == "M 4096, N 4096, K 1008"


def test_groups_tell_the_main_cause_below_them(tmp_path: Path) -> None:
    """The root holds all of it; a group without limited ops has none."""
    limited = _rows(tmp_path, Case([SGEMM], "float"), "groups")
    assert {(row["limited_ns"], row["cause"]) for row in limited} == {(100_000, "TF32 is off")}
    well = _rows(tmp_path, Case([TENSOR], "c10::Half"), "groups")
    assert {(row["limited_ns"], row["cause"]) for row in well} == {(0, None)}


def test_the_tree_tells_the_causes_of_every_node(tmp_path: Path) -> None:
    """Time and ops of each cause, sums below groups; a tree without limited ops has no cause at all."""
    database = tmp_path / "a.dlprof_dldb.sqlite"
    for case, expected in (
        (Case([SGEMM], "float"), [("tf32_off", "TF32 is off", {100_000}, {1})]),
        (Case([TENSOR], "c10::Half"), []),
    ):
        import_source(case.write(tmp_path / "a.json"), database, ImportOptions(), lambda _doing, _fraction: None)
        with closing(open_database(database)) as connection:
            causes = group_tree(connection, find_scope(connection))["causes"] or []
        result = [(each["cause"], each["label"], set(each["kernel_ns"]), set(each["ops"])) for each in causes]
        assert result == expected


def test_a_cause_keeps_off_only_what_is_not_on_matrix_units(tmp_path: Path) -> None:
    """Of a convolution on Tensor Cores with a transpose beside it that is the transpose, in every answer."""
    shapes = [[64, 64, 56, 56], [64, 64, 3, 3]]
    database = _database(tmp_path, Case([CONVOLUTION, TRANSPOSE], "c10::Half", shapes, "aten::cudnn_convolution"))
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        (cause,) = group_tree(connection, scope)["causes"] or []
        assert (cause["label"], set(cause["kernel_ns"])) == ("Layout", {100_000})
        rates = efficiency(connection, scope)
        assert [(each["label"], each["kernel_ns"]) for each in rates["causes"]] == [("Layout", 100_000)]
        assert {each["limit"]: each["kernel_ns"] for each in rates["limits"]} == {
            "matrix_unit": 100_000,
            "layout": 100_000,
        }
        groups = [row["limited_ns"] for row in stream(connection, _GROUPS, scope, PageRequest())]
        assert set(groups) == {100_000}
        kernels = page(connection, find_table("kernels_of_group"), scope, PageRequest(group="")).rows
        assert {row["kept_off_ns"] for row in kernels if "nchw" in row["name"]} == {100_000}
        assert {row["kept_off_ns"] for row in kernels if "nchw" not in row["name"]} == {0}


@pytest.mark.parametrize(
    ("case", "kept_off_ns", "overlap_ns"),
    [
        # A range holds what its code does: an activation and a copy are no work for matrix units.
        (Case([SGEMM, ELEMENTWISE, TRANSPOSE], "float"), 100_000, 0),
        # 300 us each, 200 us apart: the GPU is busy for 500 us.
        (Case([SGEMM, SGEMM], "float", kernel_us=300), 500_000, 100_000),
    ],
)
def test_what_could_be_on_matrix_units_is_the_time_of_what_multiplies(
    tmp_path: Path, case: Case, kept_off_ns: int, overlap_ns: int
) -> None:
    """Of an op with other kernels too, that of the multiplication; of two at once, no more than the op's GPU time."""
    with closing(open_database(_database(tmp_path, case))) as connection:
        scope = find_scope(connection)
        (cause,) = group_tree(connection, scope)["causes"] or []
        assert (cause["label"], set(cause["kernel_ns"])) == ("TF32 is off", {kept_off_ns})
        rates = efficiency(connection, scope)
        assert [each["kernel_ns"] for each in rates["causes"]] == [kept_off_ns]
        assert {each["limit"]: each["kernel_ns"] for each in rates["limits"]}["tf32_off"] == kept_off_ns
        assert {row["limited_ns"] for row in stream(connection, _GROUPS, scope, PageRequest())} == {kept_off_ns}
        for table in ("ops", "op_paths", "op_names", "op_types"):
            (row,) = page(connection, find_table(table), scope, PageRequest()).rows
            assert row["kept_off_ns"] == kept_off_ns <= row["gpu_time_ns"]
        kernels = page(connection, find_table("kernels_of_group"), scope, PageRequest(group="")).rows
        assert sum(row["kept_off_ns"] for row in kernels) == kept_off_ns + overlap_ns


@pytest.mark.parametrize(
    ("case", "share"),
    [
        (Case([ELEMENTWISE], "float", op="aten::relu"), None),
        (Case([SGEMM], "float"), 0.0),
        (Case([TENSOR], "c10::Half"), 1.0),
    ],
)
def test_what_could_not_be_on_matrix_units_has_no_share_of_them(
    tmp_path: Path, case: Case, share: float | None
) -> None:
    """0 is said of what could be: of an op, of ops by path, by name and by type."""
    for table in ("ops", "op_paths", "op_names", "op_types", "efficiency"):
        (row,) = _rows(tmp_path, case, table)
        assert row["tensor_core_fraction"] == share, table


@pytest.mark.parametrize("name", SOURCES)
def test_causes_add_up_in_real_profiles(name: str, tmp_path: Path) -> None:
    """Each group's are the sums of its children's, the roots' those of Efficiency, and the flat table says the same."""
    with closing(open_database(database_of(name, tmp_path))) as connection:
        scope = find_scope(connection)
        tree = group_tree(connection, scope, limit=20_000)
        whole = {each["cause"]: (each["kernel_ns"], each["ops"]) for each in efficiency(connection, scope)["causes"]}
        flat = {
            row["path"]: (row["limited_ns"], row["cause"]) for row in stream(connection, _GROUPS, scope, PageRequest())
        }
    parents, causes = tree["nodes"]["parent"], tree["causes"]
    assert causes is not None
    for each in causes:
        sums = [[0, 0] for _ in range(len(parents) + 1)]
        for position, parent in enumerate(parents):
            sums[parent][0] += each["kernel_ns"][position]
            sums[parent][1] += each["ops"][position]
        assert tuple(sums[-1]) == whole.pop(each["cause"])
        for position, op in enumerate(tree["nodes"]["op_id"]):
            if op is None:
                assert sums[position] == [each["kernel_ns"][position], each["ops"][position]]
    assert not whole
    for path, position in _positions(tree).items():
        times = {each["label"]: each["kernel_ns"][position] for each in causes}
        limited, main = flat[path]
        assert limited == sum(times.values())
        assert main is None if not limited else times[str(main)] == max(times.values())


_GROUPS = find_table("groups")


def _positions(tree: GroupTree) -> dict[str, int]:
    """Path of each group -> its position."""
    nodes, paths = tree["nodes"], list[str]()
    for name, parent, op in zip(nodes["name"], nodes["parent"], nodes["op_id"], strict=True):
        own = name if op is not None or name == "/" else f"{name}/"
        paths.append((paths[parent] if parent >= 0 else "") + own)
    return {path: position for position, path in enumerate(paths) if nodes["op_id"][position] is None}
