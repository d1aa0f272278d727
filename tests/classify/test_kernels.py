"""Kernel names are told right: a corpus with reasoned answers, the real profiles' counts, the form of the rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tensorboard_plugin_dlprof.classify import vocabulary
from tensorboard_plugin_dlprof.classify.classes import KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.classify.kernel_names import parse
from tensorboard_plugin_dlprof.classify.kernels import Classifier, classify, explanation
from tensorboard_plugin_dlprof.classify.precision import DECODERS
from tensorboard_plugin_dlprof.classify.rules import RULES
from tensorboard_plugin_dlprof.classify.rules.rule import LazyRule, Rule
from tests.classify.raw_profiles import kernel_times, raw_profiles
from tests.shared_data import shared_data, shared_data_or_none

HERE = Path(__file__).parent
FAMILIES = frozenset(vocabulary.FAMILIES)
PRECISIONS = frozenset(("", *vocabulary.PRECISIONS))


class Expected(NamedTuple):
    """One line of a corpus; ``?`` is not asserted."""

    matrix_unit: str
    family: str
    library: str
    precision: str
    name: str


def _corpus(file_name: str) -> Iterator[Expected]:
    for line in (HERE / file_name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            cells = ["" if cell == "-" else cell for cell in line.split("\t")]
            yield Expected(*(cells[1:5] + cells[6:] if file_name == "collected_names.tsv" else cells))


CORPORA = ("recorded_names.tsv", "public_names.tsv", "collected_names.tsv")
CORPUS = [expected for file_name in CORPORA for expected in _corpus(file_name)]


def _answer(result: KernelClass) -> tuple[str, str, str, str]:
    return result.matrix_unit.name.lower(), result.family, result.library, result.precision


def test_corpus_is_wide() -> None:
    """At least 2,000 distinct names, with every answer and nearly every family among them."""
    assert len({expected.name for expected in CORPUS}) >= 2_000
    assert {expected.matrix_unit for expected in CORPUS} == {"yes", "no", "unknown"}
    assert {expected.family for expected in CORPUS} - {"?"} == FAMILIES


@pytest.mark.parametrize("file_name", CORPORA)
def test_every_name_of_the_corpus_is_told_as_expected(file_name: str) -> None:
    """Matrix unit, family, library and precision of each name are those that were reasoned for it."""
    wrong = []
    for expected in _corpus(file_name):
        kind = classify(expected.name)
        pairs = zip(expected[:4], _answer(kind), strict=True)
        if any(wanted not in ("?", got) for wanted, got in pairs):
            wrong.append(f"{expected.name[:120]}: {_answer(kind)} by {kind.rule}, expected {expected[:4]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        # Traps of reference/dlprof-cli.md, 4.2.
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4", MatrixUnit.NO),
        ("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4", MatrixUnit.YES),
        ("volta_hgemm_128x128_nn", MatrixUnit.NO),
        ("volta_h884gemm_128x128_nn", MatrixUnit.YES),
        ("my_884_kernel", MatrixUnit.UNKNOWN),
        ("triton_poi_fused_addmm_relu_0", MatrixUnit.NO),
        ("triton_tem_fused_addmm_0", MatrixUnit.UNKNOWN),
        ("triton_red_fused_scaled_dot_product_attention_1", MatrixUnit.NO),
    ],
)
def test_names_that_fooled_other_tools(name: str, unit: MatrixUnit) -> None:
    """FP32 xmma and hgemm run on CUDA cores, bare digits mean nothing, a fusion is not the ops in its name."""
    assert classify(name).matrix_unit == unit


@pytest.mark.parametrize(
    "name",
    [
        "fused_layernorm_linear_kernel(float*, float const*)",
        "gemm_bias_relu_kernel(float*, float*, float*)",
        "fused_gemm_gelu_kernel",
        "int4_dequant_gemm_kernel",
        "gather_gemm_scatter_kernel",
        "conv_bn_relu_fused(float*, float*)",
        "all_gather_matmul_kernel",
        "fused_norm_expert_kernel",
        "softmax_projection",
        "flash_attention_fwd_kernel(float const*, float const*, float*, int)",
        "__cudnn_fusion",
        "qk_add_kernel(float*, float*)",
    ],
)
def test_a_word_beside_a_product_is_no_proof(name: str) -> None:
    """A kernel of no known library is called 'no' only where every word of its name is harmless."""
    assert classify(name).matrix_unit == MatrixUnit.UNKNOWN


@pytest.mark.parametrize("file_name", CORPORA)
def test_a_name_that_a_tool_cut_short_is_never_told_the_opposite(file_name: str) -> None:
    """Tables of profilers end names with dots: less is known of them then, but nothing that the whole name denies."""
    opposite = {MatrixUnit.YES: MatrixUnit.NO, MatrixUnit.NO: MatrixUnit.YES}
    for expected in _corpus(file_name):
        whole = classify(expected.name).matrix_unit
        for length in range(24, min(len(expected.name), 140), 9):
            cut = f"{expected.name[:length]}..."
            assert classify(cut).matrix_unit != opposite.get(whole), cut


@pytest.mark.parametrize(
    "name",
    [
        "aiter::gemm_a8w8_splitk_reduce_kernel",
        "deep_gemm::fp8_gemm_metadata",
        "void flashinfer::BatchPrefillWithPagedKVCache_combine_v2<int>(int)",
        "void machete::prepack_postprocess<int>(int)",
    ],
)
def test_a_helper_named_after_a_product_is_none(name: str) -> None:
    """Whatever a library's catch-all rule says: sums, plans and layouts multiply nothing."""
    assert classify(name).matrix_unit != MatrixUnit.YES


def test_library_that_knows_better_may_quote_a_product() -> None:
    """Inductor names a pointwise fusion after ops near it, and cuBLAS's helpers after the product that they serve."""
    for name in (
        "triton_poi_fused_addmm_gelu_2",
        "compute_gemm_pointers(float2**, int)",
        "void dot_kernel<float, 128>(int)",
    ):
        assert classify(name).matrix_unit == MatrixUnit.NO, name


@pytest.mark.parametrize("number", ["1", "16", "64", "90", "884", "942", "16816", "1234567"])
def test_the_running_numbers_of_compilers_say_nothing(number: str) -> None:
    """Whatever the number, Inductor's and XLA's kernels are what the rules say of the name as it is."""
    bases = {name.rstrip("0123456789") for _, _, _, _, name in CORPUS if "triton_" in name or "fusion" in name}
    names = [f"{base.removesuffix('_')}_{number}" for base in (*bases, "triton_gemm_sm", "triton_fp")]
    assert len(names) > 50
    whole = Classifier([Rule("user:never", MatrixUnit.NO, "other", "mine", r"\A\Z")])  # asked for all of each name
    assert {name: whole.classify(name) for name in names} == {name: classify(name) for name in names}


@pytest.mark.parametrize("number", ["0", "1", "16", "64", "90", "128", "256", "1234567"])
def test_the_numbers_of_typed_template_arguments_say_nothing(number: str) -> None:
    """Whatever the number, ``(int)128`` tells no more than the rest of the name."""
    names = [re.sub(r"\)\d+", f"){number}", name) for *_, name in CORPUS if re.search(r"\)\d", name)]
    assert len(names) > 100
    whole = Classifier([Rule("user:never", MatrixUnit.NO, "other", "mine", r"\A\Z")])  # asked for all of each name
    assert {name: whole.classify(name) for name in names} == {name: classify(name) for name in names}


def test_short_name_serves_where_there_is_no_long_one() -> None:
    """Old exports may hold the short name only; where there is a long one, that decides."""
    assert classify("", "ampere_sgemm_64x64_nn") == classify("ampere_sgemm_64x64_nn")
    long_name = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(T1::Params)"
    assert classify(long_name, "Kernel2").matrix_unit == MatrixUnit.YES
    assert classify("", "Kernel2").matrix_unit == MatrixUnit.UNKNOWN


@pytest.mark.parametrize("name", ["", " ", "<", "((((", "_Z", "_ZN", "_ZN99x", "void ", "\0", "é" * 50, "_ZN3abcE"])
def test_any_text_gets_an_answer(name: str) -> None:
    """A name that is none is unknown, not an error."""
    assert classify(name).matrix_unit in (MatrixUnit.NO, MatrixUnit.UNKNOWN)


@pytest.mark.parametrize("piece", ["cutlass", "cutlass_tensorop_", "xmma_f16", "A<(int)", "a_", "mma_", "::x", "at::"])
def test_a_hostile_name_is_answered(piece: str) -> None:
    """No pattern backtracks without bound, however long and repetitive a name is; this would not end if one did."""
    assert classify("void " + piece * 40_000).family in FAMILIES


def test_head_of_mangled_and_wrapped_names() -> None:
    """Rules look at the function's name: whatever wraps it is taken off."""
    assert parse("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bEEvPT_").head == "aiter::add_rmsnorm_quant_kernel"
    assert parse("_Z11flip_filterIffEvPT0_PKT_iiii").head == "flip_filter"
    assert parse("void at::native::(anonymous namespace)::f<int>(int)").head == "at::native::f"
    assert parse("void <unnamed>::softmax_warp_forward<float>(T2 *)").head == "softmax_warp_forward"
    assert (
        parse("std::enable_if<!(false), void>::type internal::gemvx::kernel<int>()").head == "internal::gemvx::kernel"
    )
    assert parse("loop_convert_fusion.kd").head == "loop_convert_fusion"


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("cublas", "volta_sgemm_128x64_nn"),
        ("cublas", "nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopB_NNT"),
        ("cudnn", "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_tensor16x8x16_cudnn"),
        ("cutlass", "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x256_16x4_nn_align4>(T1::Params)"),
        ("cutlass", "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_1x2x1_0_tnn_align8"),
        ("flash_attention", "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)"),
        (
            "flash_attention",
            "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int>>>(T1::Params)",
        ),
        (
            "xformers",
            "attention_kernel_batched_impl<AttentionKernel<cutlass::half_t, cutlass::arch::Sm80, true>>(Params)",
        ),
        ("flashinfer", "void flashinfer::BatchPrefillWithPagedKVCacheKernel<int>(Params)"),
        ("triton", "triton_poi_fused_add_0"),
        ("tensorrt", "generatedNativePointwise"),
        ("tensorrt_llm", "fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausal"),
        ("deep_gemm", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u>(float*)"),
        ("transformer_engine", "void transformer_engine::normalization::rmsnorm_fwd_general_kernel<int>(int)"),
        ("marlin", "void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, false>(int4 const*)"),
        ("machete", "void machete::PrepackedLayoutKernel<int>(int)"),
        ("nccl", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
        ("rccl", "rcclGenericKernel"),
        ("nvshmem", "nvshmemi_transfer_amo_nonfetch"),
        ("tensile", "Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE"),
        ("composable_kernel", "void ck_tile::kentry<1, ck_tile::GemmKernel<int>>(ck_tile::GemmKernelArgs)"),
        ("aiter", "_ZN5aiter33f4gemm_bf16_per1x32Fp4_tn_256x256E"),
        ("miopen", "igemm_fwd_gtcx_nhwc_fp16_bx0_ex1_bt256x128x32"),
        ("pytorch", "void at::native::vectorized_elementwise_kernel<4, int>(int)"),
        ("tensorflow", "void tensorflow::BiasNHWCKernel<float>(int, float const*)"),
        ("onnxruntime", "void onnxruntime::contrib::cuda::SkipLayerNormKernelSmall<__half, 256, 8>(int)"),
    ],
)
def test_libraries_are_told_apart(library: str, name: str) -> None:
    """Every library that a user may have to look into has its name."""
    assert classify(name).library == library


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("turing_s1688cudnn_128x128_ldg8_relu_exp_small_nhwc_tn_v1", "fp16"),
        ("ampere_s1688cudnn_128x128_ldg8_relu_exp_small_nhwc_tn_v1", "tf32"),
        ("turing_h1688gemm_128x64_nn", "fp16"),
        ("turing_i8816gemm_int8_128x64_tn", "int8"),
        ("void xmma::gemm::kernel<xmma::Ampere_hmma_bf16_traits>(xmma::Params)", "bf16"),
        ("void xmma::gemm::kernel<xmma::Ampere_hmma_tf32_traits>(xmma::Params)", "tf32"),
        ("void xmma::gemm::kernel<xmma::Ampere_hmma_fp32_traits>(xmma::Params)", "fp16"),
        ("void fmha::kernel<fmha::Ampere_hmma_fp32_traits>(fmha::Params)", "fp16"),
        ("void fmha::kernel<fmha::Ampere_hmma_bf16_traits>(fmha::Params)", "bf16"),
        ("void fmha::kernel<fmha::Ada_qmma_e4m3_fp32_traits>(fmha::Params)", "fp8"),
        ("void fmha::kernel<fmha::Ampere_imma_int8_int32_traits>(fmha::Params)", "int8"),
        ("void xmma::gemm::kernel<xmma::Turing_imma_int8_int32_traits>(xmma::Params)", "int8"),
        ("void xmma::gemm::kernel<xmma::Ada_qmma_e4m3_fp32_traits>(xmma::Params)", "fp8"),
        (
            "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::bfloat16_t, cutlass::half_t>>()",
            "mixed",
        ),
    ],
)
def test_instructions_and_types_tell_the_precision(name: str, precision: str) -> None:
    """Shapes mean what the architecture has them for; traits name the operands, or the type that they add up in."""
    assert classify(name).precision == precision


def test_every_precision_occurs() -> None:
    """The corpora hold kernels of every precision that is told apart."""
    assert {classify(expected.name).precision for expected in CORPUS} >= PRECISIONS - {"int4"}


def test_rules_are_well_formed() -> None:
    """Names are unique, families and precisions known, patterns compile, and the last rule takes what is left."""
    counts = Counter(rule.name for rule in RULES)
    assert [name for name, count in counts.items() if count > 1] == []
    for rule in RULES:
        LazyRule(rule).compile_now()
        assert rule.family in FAMILIES, rule.name
        if rule.precision.startswith("@"):
            assert rule.precision[1:] in DECODERS, rule.name
        else:
            assert rule.precision in PRECISIONS, rule.name
    assert (RULES[-1].head, RULES[-1].text) == ("", "")
    assert not any(rule.head == rule.text == "" for rule in RULES[:-1])


def test_every_answer_is_of_the_documented_vocabulary() -> None:
    """Precisions come from decoders: none of them invents a word."""
    for expected in CORPUS:
        kind = classify(expected.name)
        assert kind.precision in PRECISIONS
        assert kind.rule in {rule.name for rule in RULES}


def test_unknown_comes_with_a_reason() -> None:
    """Who sees 'unknown' or doubts an answer can read why."""
    assert "tl.dot" in explanation(classify("triton_mm").rule)
    assert explanation(classify("my_kernel").rule) == "no rule knows this name"
    assert explanation("no such rule") == ""


@pytest.mark.parametrize("path", raw_profiles(shared_data_or_none()))
def test_real_profile_has_almost_no_unknown_kernel_time(path: str) -> None:
    """On every NVIDIA profile under 5 % of the kernel time is unknown; on AMD's too."""
    unknown = total = 0
    for (long_name, short_name), (_, duration_ns) in kernel_times(shared_data() / path).items():
        total += duration_ns
        if classify(long_name, short_name).matrix_unit == MatrixUnit.UNKNOWN:
            unknown += duration_ns
    assert unknown <= 0.05 * total


@pytest.mark.parametrize(
    "path", [path for path in raw_profiles(shared_data_or_none()) if not path.startswith("dlprof-golden")]
)
def test_real_profile_has_the_tensor_core_kernels_that_its_manifest_counts(path: str) -> None:
    """NVIDIA: exactly the kernels that the manifest calls likely; AMD: at least those with MFMA in their names."""
    manifest = (shared_data() / "MANIFEST.md").read_text(encoding="utf-8")
    section = next(part for part in manifest.split("\n### ") if part.startswith(path))
    likely = re.search(r"likely: ([\d,]+) kernels", section)
    matrix_core = re.search(r"AMD matrix core: ([\d,]+) kernels", section)
    result = sum(
        count
        for names, (count, _) in kernel_times(shared_data() / path).items()
        if classify(*names).matrix_unit == MatrixUnit.YES
    )
    if matrix_core:
        assert result >= int(matrix_core[1].replace(",", ""))
    else:
        # The manifest is silent about files without kernels.
        assert result == (int(likely[1].replace(",", "")) if likely else 0)
