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
