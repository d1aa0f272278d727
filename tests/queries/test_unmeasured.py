"""What cannot be told of efficiency is named, with what would bring it, and nothing else is."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from scripts.samples.xplane_file import Plane, space
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.efficiency import efficiency
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.unmeasured import (
    RECORD_OPS,
    RECORD_SHAPES,
    RECORD_SHAPES_AS_RANGES,
    UNDECIDED,
    missing,
)
from tests.queries.events import PLAIN, database_of_events, event, work
from tests.queries.profiles import ignore
from tests.queries.test_reasons import A100, TENSOR, Case
from tests.shared_data import shared_data


def _missing(source: Path, folder: Path) -> dict[str, str]:
    database = folder / "a.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        return {each["what"]: each["hint"] for each in missing(connection, find_scope(connection))}


PEAKS, FLOPS = "What the GPU could do", "FLOPs of matrix multiplications, convolutions and attention"


@pytest.mark.parametrize(
    ("case", "what", "hint"),
    [
        (Case([TENSOR], "c10::Half", []), FLOPS, RECORD_SHAPES),
        # Rows of each expert are data: recording the shapes again would bring nothing.
        (Case([TENSOR], "c10::Half", [[4096, 1024], [8, 1024, 512], [8]], "aten::_grouped_mm"), FLOPS, UNDECIDED),
        (Case([TENSOR], "c10::Half", device={**A100, "name": "NVIDIA Z999"}), PEAKS, "NVIDIA Z999 is not in the table"),
        (Case([TENSOR], "c10::Half", device={**A100, "name": ""}), PEAKS, "does not name the GPU"),
        (
            Case([TENSOR], "c10::Half", device={**A100, "name": "NVIDIA A100-SXM4-40GB MIG 1g.5gb"}),
            PEAKS,
            "a slice of a GPU",
        ),
        (Case([TENSOR], "c10::Half"), "Theoretical occupancy, waves and tail", "registers and shared memory"),
        (Case([TENSOR], "c10::Half"), "Achieved occupancy", "--counters"),
    ],
)
def test_what_is_missing(tmp_path: Path, case: Case, what: str, hint: str) -> None:
    """Each by itself: the trace has shapes and a GPU of the table, unless the case takes them away."""
    result = _missing(case.write(tmp_path / "a.json"), tmp_path)
    assert hint in result[what]
    assert result.keys() - {what} <= {"Theoretical occupancy, waves and tail", "Achieved occupancy"}


def test_shapes_are_asked_for_where_the_framework_records_them(tmp_path: Path) -> None:
    """TensorRT's layers carry none: what another framework calls its option would help nobody."""
    hint = _missing(shared_data() / "nsight/rtx3090_tensorrt_fp16/report1.sqlite", tmp_path)[FLOPS]
    assert hint.startswith("The ranges of TensorRT carry no shapes")


def test_the_option_is_one_of_the_recorder_and_of_what_it_lacks(tmp_path: Path) -> None:
    """Of Nsight Systems' ranges, of the PyTorch profiler's ops; without any op, the ops come first."""
    of_ranges = _missing(shared_data() / "nsight/a100_transformer_2.7b_nvtx/result_2_7B_nvtx.sqlite", tmp_path)
    assert of_ranges[FLOPS] == RECORD_SHAPES_AS_RANGES
    gpu_only = next((shared_data() / "torch/mi210_gpu_only").glob("*.json.gz"))
    assert RECORD_OPS in _missing(gpu_only, tmp_path).values()


def test_the_gpu_without_published_rates_is_the_one_that_works(tmp_path: Path) -> None:
    """JAX has a plane for each GPU of the machine, and describes only those that it used."""
    used = Plane("/device:GPU:1", {"device_vendor": "AMD", "core_count": 8, "compute_cap_major": 9})
    used.event(used.line(1, "Stream #1"), "kernel", 0, 1_000, hlo_module="jit_f", hlo_op="dot.1")
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(space([Plane("/device:GPU:0", {"device_vendor": "AMD"}), used]))
    assert _missing(path, tmp_path)[PEAKS].startswith("AMD GPU, 8 CUs is not in")


def test_a_recording_that_lacks_nothing(tmp_path: Path) -> None:
    """The trace of a V100 has shapes, registers, and the occupancy that the profiler estimated."""
    source = next((shared_data() / "torch/v100_resnet50_memory").iterdir())
    assert _missing(source, tmp_path) == {}


def test_without_kernels_nothing_is_asked_for(tmp_path: Path) -> None:
    """The page says then what would record kernels."""
    assert _missing(shared_data() / "nsight/no_gpu_work/result.sqlite", tmp_path) == {}


def test_a_range_is_no_type_of_other_work(tmp_path: Path) -> None:
    """What is launched in it and in no op is of all types."""
    softmax = "void (anonymous namespace)::softmax_warp_forward<float>(float*)"
    events = [
        *(event("user_annotation", "block", 0, 90, 1), *work(1, "kernel", PLAIN, 20, 40, 0)),
        *(event("cpu_op", "aten::softmax", 100, 50, 1), *work(2, "kernel", softmax, 120, 20, 0)),
    ]
    with closing(open_database(database_of_events(tmp_path, events))) as connection:
        answer = efficiency(connection, find_scope(connection))
    assert [each["kernel_ns"] for each in answer["limits"]] == [60_000]
    assert answer["other_types"] == ["softmax"]
