"""Products of low precision and fused products of inference and training libraries."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

RULES: Final = (
    Rule("marlin-repack", NO, "copy", "marlin", r"(?i)marlin\w*repack|permute_cols_kernel|\bawq_\w*repack"),
    Rule("marlin", YES, "gemm", "marlin",
         r"(?i)\bmarlin\w*::marlin|^marlin|\bMarlin(?:_24)?\b|\bmarlin_(?:24_)?\w*|\bgptq_marlin|::Marlin\w*",
         "@types"),
    Rule("machete-prepack", NO, "copy", "machete", r"\bmachete::\w*prepack|\bprepack_B_kernel"),
    Rule("machete", YES, "gemm", "machete", r"\bmachete::", "@types"),
    Rule("deep-gemm-helper", NO, "copy", "deep_gemm",
         r"\bdeep_gemm::\w*(?:transpose|pack|cast|get_)\w*|^(?:transpose_and_pack_fp32|transpose_fp32|pack_fp32)\w*"),
    Rule("deep-gemm-fp8", YES, "gemm", "deep_gemm",
         r"\bsm\d+_fp8_fp4_\w*", "@types",
         note="one kernel for FP8 and FP4 weights; the template says which"),
    Rule("deep-gemm", YES, "gemm", "deep_gemm",
         r"\bdeep_gemm::|^sm(?:90|100)_(?:fp8|bf16|m_grouped|fp4|fp8_fp4|fp8_mqa|fp8_paged|tf32)\w*_(?:impl"
         r"|gemm\w*|logits\w*|kernel)|^(?:bf16|fp8)_gemm\w*|\bfp8_gemm_kernel", "@words or types"),
    Rule("awq", YES, "gemm", "awq",
         r"\bgemm_forward_4bit_cuda_m16n\w*|\bawq_gemm\w*", "fp16",
         note="mma.sync on dequantised halves"),
    Rule("awq-dequantise", NO, "elementwise", "awq", r"\bdequantize_weights\b|\bawq_dequantize\w*"),
    Rule("gptq-exllama", NO, "gemm", "exllama",
         r"\bgemm_half_q_half\w*|\bgptq_gemm\w*|\bVecQuant\w*MatMulKernel|\bq4_matmul_kernel"
         r"|\breconstruct_\w*kernel", "@types",
         note="half2 FMA"),
    Rule("bitsandbytes-gemv", NO, "gemm", "bitsandbytes",
         r"\bkgemm_4bit_inference\w*|\bgemv_4bit\w*|\bkgemv_4bit\w*", "@types"),
    Rule("bitsandbytes-optimizer", NO, "optimizer", "bitsandbytes", r"\bk(?:Preconditioned)?Optimizer\w*"),
    Rule("bitsandbytes", NO, "elementwise", "bitsandbytes",
         r"\bk(?:Dequantize|Quantize|Int8|DoubleRow|Transform|dequant|getColRow|PercentileClip|igemmlt)\w*"),
    Rule("tinygemm", YES, "gemm", "pytorch",
         r"\btinygemm_m16n8k16\w*", "@types",
         note="mma.m16n8k16 on dequantised weights"),
    Rule("weight-only-gemv", NO, "gemm", "tensorrt_llm",
         r"\bweight_only\w*::kernel|\bweight_only_batched_gemv\w*|\bsmooth_quant::kernel|\bint8_sq|\bgptq_gemv"
         r"|\bcudaCoreGemm\w*|cuda_core_gemm|\btinyGemm\w*CudaCore", "@types"),
    Rule("trtllm-gen", YES, "gemm", "tensorrt_llm",
         r"^(?:bmm|gemm|gemmGatedAct|fusedMoe)_(?:E4m3|E5m2|Bfloat16|Fp16|E2m1|MxE4m3|MxE2m1|MxInt4|Fp32)\w*",
         "@trtllm",
         note="TensorRT-LLM's generated products"),
    Rule("flashinfer-router", NO, "gemm", "flashinfer",
         r"\brouter_gemm_kernel\w*|\bdsv3_router_gemm\w*|\bfused_a_gemm_kernel", "@types"),
    Rule("ggml-mma", UNKNOWN, "gemm", "ggml",
         r"\bmul_mat_q\b|\bmul_mat_q_\w*|\bmul_mat_f\b", "@types",
         note="IMMA on Turing and later, dp4a before"),
    Rule("ggml-vector", NO, "gemm", "ggml",
         r"\bmul_mat_vec\w*|\bdequantize_mul_mat_vec\w*|\bmul_mat_p021\w*|\bmul_mat_vec_nc\w*", "@types"),
    Rule("ggml-quantise", NO, "elementwise", "ggml",
         r"\bdequantize_block\w*|\bquantize_(?:q8_1|mmq_q8_1)\w*|\bk_bin_bcast\w*|\bk_get_rows\w*|\bk_copy_src\w*"
         r"|\bcpy_\w*f32\w*|\brope_(?:neox|norm|multi)\w*"),
    Rule("triton-matmul-ogs", YES, "gemm", "triton",
         r"^_?p?_matmul(?:_ogs)?_[NT]{2,3}_\w*|^_matmul_ogs\w*|^_p_matmul_ogs\w*", "@matmul ogs",
         note="tl.dot on narrow operands, named in the kernel"),
    Rule("triton-fused-moe", YES, "gemm", "triton",
         r"^fused_moe_kernel\w*|^_fused_moe_kernel\w*|^invoke_fused_moe\w*|^batched_triton_kernel",
         note="tl.dot on 16-bit or narrower operands"),
    Rule("triton-fp8", YES, "gemm", "triton",
         r"^_w8a8_(?:triton_)?block_(?:fp8|scaled|int8)\w*|^_w8a8_\w*|^fp8_gemm_kernel|^_?kernel_matmul_fp8\w*"
         r"|^_scaled_mm_kernel|^scaled_mm_kernel|^_per_token_group_w8a8_matmul\w*", "fp8"),
    Rule("gemm-fused-communication", YES, "gemm", "flux", r"\bbytedance::flux|\bflux::\w*[Gg]emm\w*", "@types"),
    Rule("apex-wgrad", YES, "gemm", "apex", r"\bwgrad_gemm_accum\w*", "@types"),
)  # fmt: skip
