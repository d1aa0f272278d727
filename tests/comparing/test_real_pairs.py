"""Real pairs of profiles read as the facts about their raw files say."""

from __future__ import annotations

import itertools

import pytest

from tensorboard_plugin_dlprof.comparing import baseline
from tensorboard_plugin_dlprof.comparing.as_json import as_json
from tensorboard_plugin_dlprof.comparing.comparison import Comparison, compare
from tensorboard_plugin_dlprof.comparing.limits import judge
from tensorboard_plugin_dlprof.comparing.main_change import named
from tensorboard_plugin_dlprof.comparing.page import page
from tensorboard_plugin_dlprof.comparing.tables import rows_of_tables
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of
from tensorboard_plugin_dlprof.comparing.writing import text
from tests.comparing.real import recording_of, series
from tests.comparing.test_attribution import check

PHASES = "compare/a100_transformer_phases"
PAIRS = {
    "t4": ("torch/t4_fp32", "torch/t4_amp"),
    "two_gpus": ("nsight/h100_2gpu_torchrun_nccl/mfu_2gpu_before.sqlite", "compare/h100_2gpu_mfu"),
    "bert": ("torch/h100_bert_small", "compare/mi300x_bert_small"),
    "qwen": ("torch/h100_qwen_bf16", "compare/mi300x_qwen_bf16"),
    "nvtx": ("compare/a100_2.7b_no_nvtx", "nsight/a100_transformer_2.7b_nvtx"),
    "graphs": ("compare/a100_2.7b_no_nvtx", "nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite"),
    "backward": (f"{PHASES}/small_fwd_A100.sqlite", f"{PHASES}/small_bwd_A100.sqlite"),
    "ranks": ("torch/v100_megatron_tp2_rank0", "torch/v100_megatron_tp2_rank1"),
    "batch": ("compare/a100_batch_series/batch_size_002", "compare/a100_batch_series/batch_size_128"),
    "dlprof": ("torch/t4_fp32", "dlprof-golden/dlprof_dldb.sqlite"),
}


def compared(name: str) -> Comparison:
    """A pair."""
    a, b = PAIRS[name]
    return compare([recording_of(a)], [recording_of(b)])


@pytest.mark.parametrize("name", PAIRS)
def test_rows_add_up_both_ways(name: str) -> None:
    """In integers, whatever the sides are."""
    comparison = compared(name)
    check(comparison)
    a, b = PAIRS[name]
    swapped = compare([recording_of(b)], [recording_of(a)])
    check(swapped)
    assert swapped.change_ns == -comparison.change_ns
    assert verdict_of(comparison).verdict == "cannot_tell"


@pytest.mark.parametrize(("name", "change_ns"), [("nvtx", 19_312_376), ("backward", 92_551_372)])
def test_kernel_time_changes_as_in_the_raw_files(name: str, change_ns: int) -> None:
    """Where no iterations are marked and all calls match one to one."""
    comparison = compared(name)
    assert (comparison.per, comparison.change_ns) == ("call", change_ns)


def test_fp32_against_amp_on_a_t4() -> None:
    """Kernel time halves, but the data loader makes the iterations longer; three are too few to be sure."""
    comparison = compared("t4")
    rows = {row.name: row for row in comparison.rows}
    assert comparison.per == "iteration"
    assert comparison.change_ns == 22_230_539
    assert rows["Data loader"].change_ns == pytest.approx(24_300_000, abs=10_000)
    kernel = comparison.measures["kernel_time"]
    assert kernel.change == pytest.approx(-2_706_470, abs=1)
    tensor = comparison.measures["tensor_core_share"]
    assert tensor.a == 0
    assert tensor.b == pytest.approx(0.2886, abs=1e-3)
    for words in (
        "Cannot tell: iterations of B are 22.2 ms longer on average",
        "24.3 ms more in the data loader and 2.07 ms less elsewhere. "
        "But kernels take half the time (2.64 ms instead of 5.34 ms, 28.9 % of it on Tensor Cores instead of 0 %).",
    ):
        assert words in verdict_of(comparison).headline
    assert verdict_of(comparison).certainty == "3 iterations of each are too few to be sure; 4 are needed."
    assert "Medians are 53.9 ms" in verdict_of(comparison).details
    replaced = [one.b.names for one in comparison.replacements if one.a.names == ["volta_sgemm_128x64_nt"]]
    assert [names[0].removeprefix("turing_fp16_s1688gemm_fp16_") for names in replaced] == [
        "128x256_ldg8_f2f_stages_32x1_nt",
        "128x128_ldg8_f2f_stages_32x1_nt",
    ]


def test_another_maker_has_the_same_ops_and_other_kernels() -> None:
    """All ops of BERT match by path and shape; attention is another kernel."""
    comparison = compared("bert")
    assert {row.matched_by for row in comparison.rows} == {"path and shape", ""}
    assert ["attn_fwd"] in [one.b.names for one in comparison.replacements]
    assert "NVIDIA H100" in comparison.comparability[0]


def test_what_is_new_is_told_from_what_is_unchanged() -> None:
    """The forward pass is in both programs, the backward pass only in B."""
    comparison = compared("backward")
    new = sum(row.b_ns for row in comparison.rows if row.kind == "new")
    assert not any(row.kind == "gone" for row in comparison.rows)
    assert new / comparison.b_ns == pytest.approx(0.68, abs=0.01)


def test_graphs_recorded_as_a_whole_have_a_row_of_their_own() -> None:
    """7.81 s of B are in them."""
    comparison = compared("graphs")
    (row,) = (row for row in comparison.rows if row.kind == "graphs")
    assert (comparison.per, row.b_ns) == ("capture", 7_811_141_695)


def test_batches_of_other_sizes_are_told_by_unit_of_input() -> None:
    """25,751,925 instead of 5,488,169 ns (`pair_facts.py`) for a batch of 128 instead of 8 jets, which also hold more
    particles: no input is less than 16 times as large."""
    a, b = (recording_of(f"compare/a100_batch_series/batch_size_{size}") for size in ("008", "128"))
    comparison = compare([a], [b])
    assert (comparison.a_ns, comparison.b_ns) == (5_488_169, 25_751_925)
    verdict = verdict_of(comparison)
    assert verdict.headline.startswith(
        "Other work: kernels of B take 4.69 times as much time for inputs at least 16 times as large (25.8 ms instead "
        "of 5.49 ms): at least 70.3 % less kernel time per input element."
    )
    assert verdict.certainty == "What is told per input element is of ops with 98.9 % of B's kernel time."


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("qwen", "8.98 ms less in other kernels and 4.63 ms more on matrix units"),
        ("bert", "846 µs less in launching and 303 µs more in launched work that waits"),
        ("ranks", "53.4 ms less in launched work that waits and 48.1 ms more in exposed communication"),
    ],
)
def test_what_op_types_do_not_explain_is_told_by_what_the_gpu_did(pair: str, told: str) -> None:
    """Of the 4.41 ms of Qwen, `mul` and `linear`, which change most, leave more than all; the rows of the table add up
    to no part of the time of kernels."""
    comparison = compared(pair)
    assert f", {told}." in verdict_of(comparison).headline
    if pair == "qwen":
        assert named(comparison) is None


def test_overlap_is_told_beside_rows_that_count_each_kernel_in_full() -> None:
    """Of the MI300X's kernels more run at once than of the H100's; those of communication wait beside others."""
    lines = text([(compared("qwen"), ())], 10)
    assert "  -2.01 ms in overlap and boundaries: rows count each kernel in full." in lines
    assert "  -2.69 ms in 29 more groups; all groups add up to the change." in lines
    assert "Kernel time, summed, -5.2 % (-2.34 ms an iteration: 45.1 ms -> 42.8 ms)" in " ".join(lines.split())
    assert page(compared("ranks"))["communication_ns"] == 48_159_420
    assert page(compared("qwen"))["communication_ns"] == 0


def test_what_the_headline_names_are_rows_of_the_table() -> None:
    """They add up to its number; kernels in no op, whose names another GPU does not have, are told together."""
    for pair, column, value in (("backward", "op_type", "einsum"), ("t4", "name", "Data loader")):
        comparison = compared(pair)
        assert named(comparison) == {"column": column, "value": value}
    (told,) = (sentence for sentence in compared("qwen").comparability if "in no op" in sentence)
    assert told.startswith("Kernels in no op have other names on another GPU, so they are one row: ")
    assert told.endswith("together they change by -322 µs.")
    (group,) = (group for group in compared("qwen").groups if group.name == "Kernels in no op")
    columns, rows = rows_of_tables(compared("qwen"))["compare_types"]
    sums = {row[columns.index("op_type")]: row[columns.index("change_ns")] for row in rows}
    assert sums["Kernels in no op"] == group.change_ns
    assert "elementwise_kernel" not in sums
    assert round(group.change_ns, -3) == -322_000
    assert not any("in no op" in sentence for sentence in compared("bert").comparability)


def test_the_same_recording_twice() -> None:
    """No change, and no limit broken."""
    one = recording_of("torch/t4_fp32")
    comparison = compare([one], [one])
    assert (comparison.change_ns, verdict_of(comparison).verdict) == (0, "no_clear_change")
    assert judge(comparison, "x", "kernel_time", ">+", 0.0, "fraction").broken is False


def test_windows_of_one_program_rarely_claim_a_change(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All windows of four batches against the other four, though the batches differ in length; a true change of 3 % is
    told in most. A stored baseline is as good as a profile."""
    batches = series()
    alarms = described = 0
    windows = list(itertools.combinations(range(8), 4))[:35]  # the others are these with A and B swapped
    stored = tmp_path_factory.mktemp("baseline") / "slower.json"
    baseline.save(stored, batches)
    slower = baseline.load(stored)
    for one in slower:
        for changed in one.ops:
            changed.kernel_ns = round(changed.kernel_ns * 1.03)
    for window in windows:
        a, b = [batches[place] for place in window], [place for place in range(8) if place not in window]
        alarms += verdict_of(compare(a, [batches[place] for place in b])).verdict != "no_clear_change"
        described += verdict_of(compare(a, [slower[place] for place in b])).verdict == "slower"
    assert alarms / len(windows) <= 0.05
    assert described / len(windows) >= 0.9


def test_what_holds_memory_adds_up_to_the_recorded_peaks() -> None:
    """By category and by op, with what was held before the recordings."""
    data = as_json(compare([recording_of("torch/t4_fp32")], [recording_of("torch/t4_amp")]))
    for rows in (data["memory"], data["memory_by_op"]):
        for side in ("a", "b"):
            assert sum(row[f"{side}_bytes"] for row in rows) == data["measures"]["memory_peak"][side]
    held = {row["op"]: (row["a_bytes"], row["b_bytes"]) for row in data["memory_by_op"]}
    assert held["/sum"][1] == 0 < held["/sum"][0]
    assert data["memory_not_recorded"] is None


def test_a_snapshot_without_events_has_no_peak() -> None:
    """It tells what was held at its end: no other category is 0 because of that."""
    sides = ("memory/snapshot_xl_fp32_forward", "memory/snapshot_no_events")
    data = as_json(compare(*([recording_of(name)] for name in sides)))
    assert (data["memory"], data["measures"]["memory_peak"]["b"]) == ([], None)
    assert data["memory_not_recorded"] == "What B holds at the peak of memory was not recorded."


def test_iterations_decide_limits() -> None:
    """ResNet-50 under two profiler versions: 12 % slower, sure of 5 to 22 %."""
    comparison = compare([recording_of("torch/v100_resnet50_oldest")], [recording_of("torch/v100_resnet50_memory")])
    assert verdict_of(comparison).verdict == "slower"
    assert judge(comparison, "", "iteration_time", ">+", 0.1, "fraction").broken is True
    assert judge(comparison, "", "iteration_time", ">", 0.1, "fraction").broken is True
    assert judge(comparison, "", "iteration_time", ">+", 0.2, "fraction").broken is False
    assert judge(comparison, "", "iteration_time", ">", 150e6, "ns").broken is True
    assert judge(comparison, "", "gpu_utilization", "<", 0.6, "fraction").broken is True
    assert judge(comparison, "", "kernels", ">+", 0, "number").broken is False
    assert judge(comparison, "", "memory_peak", ">+", 1e9, "bytes").broken is None
    assert judge(comparison, "", "op:/nothing", ">+", 0, "fraction").broken is None
    assert as_json(comparison)["interval"] == pytest.approx([1.052, 1.221], abs=1e-3)
