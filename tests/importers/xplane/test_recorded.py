"""XPlane profiles: what an import gives, held against facts counted straight from the files by other code."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Capture, WorkKind
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.shared_data import shared_data

RECORDED = ("v100_tensorflow_multi_gpu", "mi300x_jax_attention", "mi300x_jax_conv_legacy")


def the_file(name: str) -> Path:
    """The only profile in a folder of the shared ones."""
    (result,) = (shared_data() / "xplane" / name).glob("*.xplane.pb")
    return result


def facts(name: str) -> dict[str, Any]:
    """What was counted from it."""
    data: dict[str, Any] = json.loads((shared_data() / "xplane" / name / "facts.json").read_text())
    return data


def read(path: Path) -> Capture:
    """The capture of a file."""
    return find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)


def profile_of(name: str) -> Profile:
    """The profile of a shared file."""
    return build_profile(read(the_file(name)))


@pytest.mark.parametrize("name", RECORDED)
def test_counts_and_times_of_each_gpu_are_those_of_the_file(name: str) -> None:
    """Kernels, copies and sets of every GPU, streams, and work that is linked to its call."""
    capture = read(the_file(name))
    work, expected = capture.work, facts(name)["devices"]
    for device, fact in expected.items():
        own = work.device == int(device)
        for kind, key in ((WorkKind.KERNEL, "kernel"), (WorkKind.MEMCPY, "copy"), (WorkKind.MEMSET, "set")):
            some = own & (work.kind == kind)
            assert int(np.count_nonzero(some)) == fact.get(f"{key}_count", 0)
            assert int((work.end_ns - work.start_ns)[some].sum()) == fact.get(f"{key}_ns", 0)
        assert len(np.unique(work.stream[own])) == fact.get("streams", 0)
        calls = set(capture.calls.correlation.tolist())
        assert sum(each in calls for each in work.correlation[own].tolist()) == fact.get("linked_to_host_call", 0)
    assert {str(each.device_id) for each in capture.devices} == set(expected)


@pytest.mark.parametrize("name", RECORDED)
def test_kernel_time_stands_under_the_ops_of_the_file(name: str) -> None:
    """By the file's own rows: GPU, module, HLO op, path, direction, group, type."""
    capture = read(the_file(name))
    profile = build_profile(capture)
    kernels = profile.kernels
    duration = kernels.end_ns - kernels.start_ns
    with_path = np.array([not op.name.startswith("unassociated") for op in profile.ops])[kernels.op]
    rows = [line.split("\t") for line in (the_file(name).parent / "ops.tsv").read_text().splitlines()]
    total = sum(int(row[0]) for row in rows)
    assert int(duration.sum()) == total
    described = sum(int(row[0]) for row in rows if row[4] != "None" or row[5])
    assert int(duration[with_path].sum()) >= 0.95 * described
    counts: Counter[str] = Counter()
    for op, time_ns in zip(kernels.op.tolist(), duration.tolist(), strict=True):
        counts[profile.ops[op].name.rpartition(" ")[2]] += time_ns
    for row in rows:
        if row[4] != "None":
            same = sum(int(other[0]) for other in rows if other[4] == row[4])
            assert counts[row[4]] == same


def test_a_convolution_is_one_op_with_five_executions() -> None:
    """Two kernels each: an execution begins where its first kernel comes again."""
    profile = profile_of("mi300x_jax_conv_legacy")
    (op,) = (row for row, op in enumerate(profile.ops) if op.name.endswith(" cudnn-conv.1.0"))
    assert profile.ops[op].op_type == "conv_general_dilated"
    assert profile.ops[op].name.startswith("/forward_3d_conv/")
    assert int(np.count_nonzero(profile.instances.op == op)) == 5
    assert int(np.count_nonzero(profile.kernels.op == op)) == 10
    assert len(profile.iterations[0].values) == 5, "runs of the module"
    (transposed,) = (each for each in profile.ops if each.name.endswith(" input_transpose_fusion"))
    assert transposed.op_type == "transpose", "a change of layout is no convolution"


def test_most_of_a_wait_is_said_of_more_than_half_alone() -> None:
    """Of 875 ms of which nothing was recorded, 51.8 ms are before the place that can be named; the rest has no name."""
    path = the_file("v100_tensorflow_multi_gpu")
    findings = diagnose_source(path, "typical", ImportOptions(), lambda *_: None)["findings"]
    (title,) = (each["title"] for each in findings if each["rule"] == "unrecorded_detector")
    assert "875 ms" in title
    assert "51.8 ms of it before MemcpyH2D" in title


def test_garbage_of_an_old_collector_is_unknown_and_counted() -> None:
    """More registers than a GPU has are not shown."""
    capture = read(the_file("mi300x_jax_conv_legacy"))
    assert capture.work.registers.max() <= 65_535
    (count,) = (count for reason, count in capture.skipped.items() if "registers" in reason)
    assert count == facts("mi300x_jax_conv_legacy")["devices"]["7"]["kernel_count"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cpu_jax_generated", r"host events only \(JAX on CPU\)"),
        ("gtx1050ti_tf_cupti_failed", "Failed to load libcupti"),
        ("damaged_utf8", "converted as text"),
    ],
)
def test_a_file_without_gpu_work_gets_one_true_sentence(name: str, sentence: str) -> None:
    """It says why there is nothing to show."""
    with pytest.raises(BrokenSource, match=sentence):
        read(the_file(name))


def test_a_file_cut_anywhere_is_refused_or_read_never_worse(tmp_path: Path) -> None:
    """Every length is checked against what is there."""
    content = the_file("mi300x_jax_attention").read_bytes()
    for size in (100, 300, 5_000, 100_000, 280_000, len(content) - 1):
        path = tmp_path / "cut.xplane.pb"
        path.write_bytes(content[:size])
        with pytest.raises(BrokenSource, match=f"cut short: it ends at byte {size:,}"):
            read(path)


def test_a_compressed_file_is_read_alike(tmp_path: Path) -> None:
    """It is expanded into a temporary file."""
    path = tmp_path / "t.xplane.pb.gz"
    path.write_bytes(gzip.compress(the_file("mi300x_jax_attention").read_bytes(), 1))
    assert (read(path).work.start_ns == read(the_file("mi300x_jax_attention")).work.start_ns).all()
