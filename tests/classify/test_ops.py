"""Which op types could use matrix units."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.classify import op_names
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.ops import eligibility


@pytest.mark.parametrize(
    "op_type",
    [
        # DLProf's functional names; they may carry a running number.
        "conv2d",
        "linear",
        "matmul",
        "bmm",
        "einsum",
        "lstm",
        "LINEAR_2",
        "CONV2D_14",
        # aten, with overloads, in place and out of place.
        "aten::conv2d",
        "aten::addmm_",
        "aten::conv2d.padding",
        "aten::_convolution",
        "aten::linalg_multi_dot",
        "aten::_scaled_mm",
        "aten::_grouped_mm",
        "aten::_scaled_grouped_mm",
        "aten::_int_mm",
        "aten::_weight_int4pack_mm",
        "aten::scaled_dot_product_attention",
        "aten::_efficient_attention_forward",
        "aten::cudnn_convolution_transpose",
        # Backward: ops of today and of 2021, nodes, and the engine's wrapper.
        "aten::convolution_backward",
        "aten::cudnn_convolution_backward_weight",
        "aten::_flash_attention_backward",
        "aten::cudnn_convolution_transpose_backward_input",
        "MmBackward",
        "ConvolutionBackward0",
        "AddmmBackward0",
        "BmmBackward0",
        "CudnnConvolutionBackward",
        "ScaledDotProductFlashAttentionBackward0",
        "AddbmmBackward",
        "autograd::engine::evaluate_function: ConvolutionBackward0",
        # Libraries.
        "flash_attn::_flash_attn_forward",
        "_C::cutlass_scaled_mm",
        "vllm::unified_attention_with_output",
        "FlashAttnFunc",
        "aiter::gemm_a16w16",
        # TensorFlow and XLA.
        "MatMul",
        "gradients/MatMul_1",
        "Conv2DBackpropFilter",
        "BatchMatMulV2",
        "DepthwiseConv2dNative",
        "_XlaRun",
        "CudnnRNNBackpropV3",
        "XlaDotV2",
        "_FusedConv2D",
    ],
)
def test_eligible(op_type: str) -> None:
    """Convolutions, products, recurrent layers and attention, forward and backward, in every source's spelling."""
    assert eligibility(op_type) == Eligibility.ELIGIBLE


@pytest.mark.parametrize(
    "op_type",
    [
        "relu",
        "add_",
        "aten::add",
        "aten::copy_",
        "batch_norm",
        "aten::native_layer_norm",
        "max_pool2d",
        "softmax",
        "",
        "aten::cudnn_convolution_backward_bias",
        "aten::prelu",
        "aten::_thnn_fused_lstm_cell",
        "aten::upsample_bilinear2d",
        "aten::cumsum",
        "c10d::allreduce_",
        "nccl:all_reduce",
        "ReluBackward0",
        "cuda",
        "custom",
        "current_stream",
        "aten::_softmax_backward_data",
        "aten::embedding_dense_backward",
        "Relu",
        "BiasAdd",
        "causal_conv1d",
    ],
)
def test_not_eligible(op_type: str) -> None:
    """What multiplies no matrices is not eligible, though its name may look like it or a published list may have it."""
    assert eligibility(op_type) == Eligibility.NOT_ELIGIBLE


@pytest.mark.parametrize(
    "call", ["cudaDeviceSynchronize_v3020", "cudaLaunchKernel", "cuLaunchKernelEx", "hipMemcpyAsync"]
)
def test_ops_that_stand_for_api_calls(call: str) -> None:
    """Work outside every op is filed under its API call, which is neither eligible nor not."""
    assert eligibility(call) == Eligibility.UNASSOCIATED


def test_every_name_of_the_tables_is_eligible() -> None:
    """No entry is shadowed by the parsing of suffixes, nor by the list of exceptions."""
    assert [name for name in op_names.ELIGIBLE if eligibility(name) != Eligibility.ELIGIBLE] == []
    assert [name for name in op_names.INELIGIBLE if eligibility(name) != Eligibility.NOT_ELIGIBLE] == []


LIBRARY_PRODUCTS = (
    "aten::_convolution_double_backward", "aten::slow_conv3d_forward",
    "aten::_scaled_dot_product_efficient_attention_backward", "aten::_cudnn_rnn_backward",
    "aten::miopen_rnn_backward", "aten::_scaled_mm_v2", "vllm::unified_attention",
    "vllm::unified_attention_with_output", "vllm::unified_mla_attention_with_output", "vllm::moe_forward",
    "vllm::moe_forward_shared", "vllm::inplace_fused_experts", "vllm::outplace_fused_experts",
    "vllm::fused_marlin_moe", "_C::gptq_marlin_gemm", "_C::marlin_gemm", "_C::machete_mm",
    "_C::cutlass_scaled_mm_azp", "_C::cutlass_moe_mm", "_C::cutlass_scaled_fp4_mm", "_C::cutlass_fp4_group_mm",
    "_C::awq_gemm", "_C::ggml_mul_mat_a8", "_moe_C::moe_wna16_gemm", "_moe_C::moe_wna16_marlin_gemm",
    "_C::paged_attention_v1", "_rocm_C::paged_attention", "_vllm_fa2_C::varlen_fwd", "_vllm_fa3_C::fwd",
    "vllm::rocm_aiter_fused_moe", "vllm::rocm_aiter_gemm_w8a8_blockscale", "vllm::rocm_unquantized_gemm",
    "vllm::w8a8_triton_block_scaled_mm_func", "vllm::flashinfer_mm_fp4", "sgl_kernel::fp8_scaled_mm",
    "sgl_kernel::int8_scaled_mm", "sgl_kernel::fp8_blockwise_scaled_mm", "sgl_kernel::bmm_fp8", "sgl_kernel::fwd",
    "sgl_kernel::dsv3_router_gemm", "sgl_kernel::dsv3_fused_a_gemm", "sgl_kernel::qserve_w4a8_per_chn_gemm",
    "sgl_kernel::fp8_blockwise_scaled_grouped_mm", "sgl_kernel::cutlass_mla_decode", "sglang::inplace_fused_experts",
    "trtllm::fp8_block_scaling_gemm", "trtllm::fp4_gemm", "trtllm::nvfp4_gemm", "trtllm::cublas_scaled_mm",
    "trtllm::cublas_mm", "trtllm::fused_moe", "trtllm::attn_custom_op_inplace", "trtllm::fp8_batched_gemm_trtllmgen",
    "trtllm::weight_only_quant_gemm", "trtllm::finegrained_mixed_dtype_gemm", "aiter::gemm_a8w8_blockscale",
    "aiter::gemm_a8w8_bpreshuffle", "aiter::fmoe_g1u1", "aiter::fmoe_fp8_blockscale_g1u1", "aiter::fused_moe_",
    "aiter::ck_moe_stage1", "aiter::ck_moe_stage1_fwd", "aiter::moe_stage1_g1u1", "aiter::mla_decode_stage1_asm_fwd",
    "aiter::pa_fwd_asm", "aiter::mha_fwd", "aiter::fmha_v3_bwd", "aiter::mha_batch_prefill",
    "aiter::batched_gemm_bf16", "aiter::deepgemm_ck", "aiter::gemm_a4w4_asm", "aiter::hipb_mm",
    "aiter::flatmm_a8w8_blockscale_asm", "aiter::gemm_a16w16_asm", "flash_attn::_flash_attn_varlen_backward",
    "flash_attn_3::fwd", "flash_attn_3::bwd", "FlashAttnVarlenFuncBackward", "_LayerNormLinearBackward",
    "_GroupedLinear", "FusedAttnFunc", "_LayerNormMLPBackward", "xformers::efficient_attention_backward_cutlass",
    "xformers_flash::flash_bwd", "xformers_flash3::flash_fwd", "xformers::_sparse24_gemm", "_fMHABackward",
    "torchao::marlin_qqq_gemm", "torchao::swizzle_mm", "torchao::int8_scaled_matmul", "torchao::quant_llm_linear",
    "torchao::rowwise_scaled_linear_cutlass_s8s4", "bitsandbytes::int8_linear_matmul", "bitsandbytes::int8_scaled_mm",
    "bitsandbytes::int8_mixed_scaled_mm", "MatMul4BitBackward", "MatMul8bitLtBackward", "fbgemm::f8f8bf16_rowwise",
    "fbgemm::f8f8bf16_blockwise", "fbgemm::bf16i4bf16_rowwise", "fbgemm::i8i8bf16", "fbgemm::f4f4bf16",
    "fbgemm::f8f8bf16_rowwise_grouped", "fbgemm::bf16bf16bf16_grouped", "fbgemm::gqa_attn_splitk",
    "torchvision::deform_conv2d", "torchvision::_deform_conv2d_backward", "pyg::grouped_matmul",
    "pyg::segment_matmul", "deep_gemm::fp8_gemm_nt", "deep_gemm::m_grouped_fp8_gemm_nt_contiguous", "BlockLSTMV2",
    "GRUBlockCell", "_FusedConv3D", "_FusedDepthwiseConv2dNative", "FusedConv2DBiasActivation",
    "gradients/conv2d/Conv2D_grad/Conv2DBackpropInput", "quantized::linear", "quantized::conv2d",
    "quantized::linear_dynamic", "natten::na2d_forward", "natten::fna_forward", "symm_mem::fused_all_gather_matmul",
    "symm_mem::fused_matmul_reduce_scatter", "symm_mem::_fused_all_gather_scaled_matmul",
)  # fmt: skip
"""Of PyTorch, vLLM, SGLang, TensorRT-LLM, AITER, flash-attn, xFormers, torchao, bitsandbytes, FBGEMM, TensorFlow."""

LIBRARY_OTHERS = (
    "aten::embedding_bag", "aten::_embedding_bag", "aten::_embedding_bag_backward", "EmbeddingBagBackward0",
    "aten::_fused_sdp_choice", "aten::_transform_bias_rescale_qkv", "aten::linalg_vector_norm",
    "aten::linalg_solve_ex", "aten::linalg_cholesky_ex", "aten::_linalg_svd", "aten::_fft_c2c", "aten::im2col",
    "aten::col2im", "aten::_pdist_forward", "aten::native_dropout", "aten::t", "aten::_foreach_addcmul_",
    "aten::addcmul", "aten::mul", "aten::cross", "aten::linalg_cross", "aten::_weight_norm_interface",
    "vllm::all_reduce", "_C_cache_ops::reshape_and_cache_flash", "_C_cache_ops::concat_and_cache_mla", "_C::rms_norm",
    "_C::fused_add_rms_norm", "_C::rotary_embedding", "_C::silu_and_mul", "_C::dynamic_scaled_fp8_quant",
    "_C::static_scaled_fp8_quant", "_C::scaled_fp4_quant", "_C::gptq_marlin_repack", "_C::awq_marlin_repack",
    "_C::awq_dequantize", "_C::cutlass_scaled_mm_supports_fp8", "_C::get_cutlass_moe_mm_data",
    "_C::merge_attn_states", "_moe_C::topk_softmax", "_moe_C::moe_align_block_size", "_moe_C::moe_sum",
    "_moe_C::grouped_topk", "_C::per_token_group_fp8_quant", "_C::machete_prepack_B", "_C::permute_cols",
    "_vllm_fa3_C::get_scheduler_metadata", "vllm::maybe_calc_kv_scales", "vllm::unified_kv_cache_update",
    "vllm::moe_permute", "sgl_kernel::moe_fused_gate", "sgl_kernel::topk_softmax",
    "sgl_kernel::sgl_per_token_group_quant_8bit", "sgl_kernel::apply_rope_pos_ids_cos_sin_cache",
    "sgl_kernel::prepare_moe_input", "sgl_kernel::merge_state_v2", "sgl_kernel::shuffle_rows", "sgl_kernel::rmsnorm",
    "sgl_kernel::silu_and_mul", "sgl_kernel::get_cutlass_w4a8_moe_mm_data", "aiter::moe_sorting_fwd",
    "aiter::topk_softmax", "aiter::biased_grouped_topk", "aiter::rmsnorm2d_fwd", "aiter::silu_and_mul",
    "aiter::dynamic_per_token_scaled_quant", "aiter::mla_reduce_v1", "aiter::get_mla_metadata_v1",
    "aiter::reshape_and_cache_with_pertoken_quant", "aiter::fused_qk_norm_rope_cache_quant_shuffle", "aiter::moe_sum",
    "trtllm::fp4_quantize", "trtllm::allreduce", "trtllm::fp8_quantize_1x128",
    "trtllm::mla_rope_append_paged_kv_assign_q", "trtllm::moe_finalize_allreduce", "trtllm::tinygemm2_quantize",
    "causal_conv1d::causal_conv1d_fwd", "DaoAILab::_causal_conv1d_fwd_cpp", "DaoAILab::_causal_conv1d_bwd_cpp",
    "CausalConv1dFn", "vllm::causal_conv1d_update", "sgl_kernel::causal_conv1d_fwd", "acme::fused_causal_conv1d",
    "SelectiveScanFn", "fbgemm::split_embedding_codegen_lookup_adagrad_function", "fbgemm::permute_2D_sparse_data",
    "fbgemm::quantize_fp8_per_row", "fbgemm::jagged_to_padded_dense", "bitsandbytes::quantize_4bit",
    "bitsandbytes::dequantize_4bit", "bitsandbytes::int8_mm_dequant", "flash_attn_3::fwd_combine",
    "flash_attn_3::get_scheduler_metadata", "torchvision::nms", "torchvision::roi_align", "c10d::_allgather_base_",
    "c10d::reduce_scatter_", "FusedBatchNormV3", "BiasAddGrad", "MaxPoolGrad", "SparseSoftmaxCrossEntropyWithLogits",
    "ResourceApplyAdam", "MatrixDiagV3", "MatrixBandPart", "Transpose", "Softmax",
    "transformer_engine::fused_moe_aux_loss_fwd", "lightseq::attn_softmax", "exllama::exl3_gemm_shape_compat",
    "xformers::sparse24_largest_mask_2d", "torchao::dequantize_affine", "torchao::mx_fp8_bf16_quant",
)  # fmt: skip
"""What these libraries run around their products."""


def test_products_of_libraries_are_eligible() -> None:
    """By a list, by the words of their names, by the three types of a product (``f8f8bf16``), by FlashAttention's."""
    assert [op for op in LIBRARY_PRODUCTS if eligibility(op) != Eligibility.ELIGIBLE] == []


def test_helpers_of_libraries_are_not_eligible() -> None:
    """Quantisation, caches, routing, metadata and sums hold a product's word now and then; they multiply nothing."""
    assert [op for op in LIBRARY_OTHERS if eligibility(op) != Eligibility.NOT_ELIGIBLE] == []


def test_words_count_in_ops_of_libraries_only() -> None:
    """PyTorch's ops are all listed: a word in a new one proves nothing, nor does one in a name without a namespace."""
    assert eligibility("aten::_some_new_linear_thing") == Eligibility.NOT_ELIGIBLE
    assert eligibility("my_linear_thing") == Eligibility.NOT_ELIGIBLE
    assert eligibility("acme::my_linear_thing") == Eligibility.ELIGIBLE
