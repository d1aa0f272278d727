"""The accumulator and the architecture that a kernel's name tells."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.classify.kernels import classify


@pytest.mark.parametrize(
    ("name", "accumulator", "architecture"),
    [
        ("volta_h884gemm_128x128_nn", "fp16", "sm_70"),
        ("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "fp32", "sm_70"),
        ("turing_int8_i8816gemm_int8_128x128_ldg16_stages_64x2_nt", "int32", "sm_75"),
        ("ampere_d884gemm_64x64_nn", "fp64", "sm_80"),
        (
            "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_tensor16x8x16",
            "fp32",
            "sm_80",
        ),
        (
            "sm70_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize128x128x32_tensor8x8x4",
            "fp16",
            "sm_70",
        ),
        ("sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_tensor16x8x32", "fp32", "sm_89"),
        ("sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x64_tensor16x8x32", "int32", "sm_80"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x256_16x4_nn_align4>(T1::Params)", "fp32", "sm_80"),
        ("cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_128x128x128", "fp32", "sm_90"),
        ("nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", "fp32", "sm_100"),
        ("nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN", "fp32", "sm_120"),
        ("bmm_Bfloat16_E2m1E2m1_Fp32_bA16_bB16_t128x16x256u2_sm100f", "fp32", "sm_100"),
        ("fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausal", "", "sm_100"),
        ("void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int>>>(T1::Params)", "", "sm_90"),
        ("Cijk_Alik_Bljk_HHS_BH_UserArgs_MT32x16x128_MI16x16x1_SN_ISA942_IU1", "fp32", "gfx942"),
        ("Cijk_Alik_Bljk_HHS_BH_MT32x16x128_MI16x16x1_SN_ISA90a_IU1", "fp32", "gfx90a"),
        ("Custom_Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT256x256x64_MI16x16x1_shortname0_gfx950", "fp32", "gfx950"),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8_SE_ISA000_IU1_TT4_4_WG16_16_1", "fp32", ""),
        ("Cijk_Ailk_Bljk_DB_MT64x64x16_MI16x16x4x1_SN_ISA90a", "fp64", "gfx90a"),
        ("Cijk_Ailk_Bljk_SB_MT128x64x16_MI32x32x2x1_SN_ISA908", "fp32", "gfx908"),
        ("Cijk_Ailk_Bljk_HB_MT128x64x16_MI32x32x8x1_SN_ISA908", "fp16", "gfx908"),
        ("Cijk_Ailk_Bljk_HBH_MT128x64x16_MI32x32x8x1_SN_ISA908", "fp32", "gfx908"),
        ("Cijk_Alik_Bljk_BBH_MT64x64x32_MI32x32x4x1_SN_ISA908", "fp32", "gfx908"),
        ("Cijk_Alik_Bljk_4xi8BH_MT64x64x32_MI32x32x8x1_SN_ISA908", "int32", "gfx908"),
        ("cutlass3x_sm100_tensorop_gemm_f16_f16_f32_f16_f16_128x128x64_1x1x1_0_tnn_align8", "fp32", "sm_100"),
        ("cutlass_80_tensorop_c1688gemm_64x64_16x3_nn_align1", "fp32", "sm_80"),
        ("sm90_xmma_gemm_i8i32_i8i32_i32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", "int32", "sm_90"),
        ("nvjet_hhh_128x256_64x4_1x2_h_bz_coopA_NTN", "fp16", ""),
        ("volta_hgemm_128x64_nn", "fp16", "sm_70"),
        ("void implicit_convolve_hhgemm<__half, 1024, 5, 5>(int)", "fp16", ""),
        ("volta_fp16_sgemm_fp16_128x64_nn", "", "sm_70"),
        ("void allspark::ampere_hgemm_W8A16_perc_f16_f16_64x128x32<int>(int)", "", "sm_80"),
        ("maxwell_scudnn_128x32_relu_small_nn_v1", "", "sm_50"),
        ("void at::native::vectorized_elementwise_kernel<4, int>(int)", "", ""),
        ("void amperes_law(float*)", "", ""),
    ],
)
def test_names_tell_accumulator_and_architecture(name: str, accumulator: str, architecture: str) -> None:
    """Each library's way to name the type of its sums and the generation that a kernel is for; empty where not told."""
    kind = classify(name)
    assert (kind.accumulator, kind.architecture) == (accumulator, architecture)
