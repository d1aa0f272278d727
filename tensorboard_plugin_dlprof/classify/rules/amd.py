"""AMD's libraries: Tensile (hipBLASLt, rocBLAS), Composable Kernel, AITER, MIOpen. Matrix cores run MFMA and WMMA."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

RULES: Final = (
    # Tensile names the instruction: ``MI16x16x16x1``; a kernel without one multiplies on vector units.
    Rule("tensile-post", NO, "reduction", "tensile",
         r"^Dijk_\w*Reduction|Cijk_\w*Post(?:GSU|GSD)|^Cijk_\w*_GA$|^Cijk_[A-Z]+(?:_\w+)?_(?:GB|GA)(?:_|$)"
         r"|^Cijk_\w*BetaOnly",
         "@tensile", words="betaonly cijk_ reduction"),
    Rule("tensile-mfma", YES, "gemm", "tensile", r"Cijk_\w*_MI\d|^Cijk_\w{4}_\w{4}_[FB]8|^DGEMM_Aldebaran_",
         "@tensile", note="the instruction stands in the name; FP8 has nowhere else to run", words="cijk_ dgemm_"),
    Rule("tensile-mmac", YES, "gemm", "tensile",
         r"Cijk_\w*_MMAC(?:_|$)", "@tensile", note="Hygon's matrix instruction", words="cijk_"),
    Rule("tensile-vector", NO, "gemm", "tensile",
         r"Cijk_\w*(?:_MAC|_TT\d+_\d+|_DOT2|_FMA)", "@tensile",
         note="no matrix instruction in the name", of_rest=True, words="cijk_"),
    Rule("tensile-source", NO, "gemm", "tensile",
         r"Cijk_\w*_MT\d+x\d+x\d+_(?!MI\d)[A-Za-z0-9]+_", "@tensile",
         note="the matrix instruction would follow the tile", of_rest=True, words="cijk_"),
    Rule("tensile-other", UNKNOWN, "gemm", "tensile", r"Cijk_", "@tensile", words="cijk_"),
    # AITER.
    Rule("aiter-moe", YES, "gemm", "aiter",
         r"\baiter::(?:fmoe|moe_(?:stage|gemm)|ck_moe|asm_moe)\w*|^fmoe_\w+|^_moe_gemm\w*", "@aiter",
         words="_moe_gemm aiter:: fmoe_"),
    Rule("aiter-gemm", YES, "gemm", "aiter",
         r"\baiter::(?!\w*clean)\w*(?:gemm|flatmm)\w*|^(?!\w*clean)(?:bf16gemm|f4gemm|f8gemm|i8gemm|flatmm|gemm_a\d+w\d+"
         r"|f8_block_scale|a8w8"
         r"|a4w4)\w*", "@aiter", words="a4w4 a8w8 aiter:: bf16gemm f4gemm f8_block_scale f8gemm flatmm gemm_a i8gemm"),
    Rule("aiter-skinny-mfma", YES, "gemm", "aiter",
         r"\baiter::wvSplitK(?:Q|rc)_\w*", "fp8", note="MFMA on FP8 operands", words="aiter::wvsplitk"),
    Rule("aiter-skinny-bf16", UNKNOWN, "gemm", "aiter",
         r"\baiter::wvSplitK_\w*", "@types", r"^(?!.*(?:__half|_Float16|\b[hH]alf\b|(?<!b)float16))",
         note="v_dot2 for halves; newer versions multiply bf16 by MFMA 4x4x4", words="aiter::wvsplitk"),
    Rule("aiter-skinny", NO, "gemm", "aiter",
         r"\baiter::(?:wv_?[sS]plit[kK]\w*|LLGemm\w*|HGEMV\w*)", "@types", note="v_dot2 for a few rows",
         words="aiter::"),
    Rule("flydsl", YES, "gemm", "aiter",
         r"^gemm[12]_a\d+w\d+_\w+|^hgemm_(?:bf16|f16|fp16)_(?:\d+x){2,3}\d+_\w*SPK\d|^mfma_moe[12]_"
         r"|^(?:moe_gemm[12]|kernel_gemm)_\d+$"
         r"|^bs_gemm_(?:bf16|fp16|f16)_\w*t\d+x\d+x\d+"
         r"|^flydsl_(?!\w*(?:reduce|sort|quant"
         r"|norm|rope|topk|combine))(?:gemm|bpre|moe|mxfp"
         r"|\w*gemm)\w*",
         "@words",
         note="products written in FlyDSL, by MFMA or WMMA",
         words="flydsl_ gemm1_ gemm2_ hgemm_ mfma_moe moe_gemm kernel_gemm_ bs_gemm"),
    Rule("flydsl-attention", YES, "attention", "aiter",
         r"^(?:flash_attn_func|pa_decode_ps|pa_mqa_logits_\w+)_kernel_\d+$", "@words",
         note="written in FlyDSL, by MFMA", words="attn_func_kernel pa_decode_ps pa_mqa"),
    Rule("aiter-triton-reduce", NO, "reduction", "aiter",
         r"^_(?:fused_)?(?:batched_)?(?:gemm|fp4_bmm)_\w*reduce(?:_kernel)?$"
         r"|^_(?:batched_)?gemm_a\w+w\w+_reduce_kernel\w*"
         r"|^opus_\w*reduce\w*kernel\w*|^opus_moe_sorting\w*", note="sums of a split product", knows_better=True,
         words="gemm_ fp4_bmm opus_"),
    Rule("aiter-triton-gemm", YES, "gemm", "aiter",
         r"^_(?:batched_)?gemm_a(?:fp4|fp8|4|8|16)_?w(?:fp4|fp8|4|8|16)\w*_kernel\w*|^_batched_gemm_bf16_kernel$"
         r"|^_fused_gemm_a(?:fp4|8|16)_?w(?:fp4|8|16)_\w+|^_fused_fp[48]_bmm_rope_cat_and_cache_mla_kernel$",
         note="tl.dot on narrow operands", words="gemm_a gemm_bf16 _bmm_rope"),
    Rule("aiter-triton-moe", YES, "gemm", "aiter",
         r"^e2e_moe_(?:persistent_)?kernel$|^_triton_gather_kv_b_proj_\w+|^tgmm_(?:non_)?persistent_kernel$"
         r"|^_deepgemm_fp8_paged_mqa_logits(?!\w*schedule)\w*", note="tl.dot on 16-bit or narrower operands",
         words="e2e_moe kv_b_proj tgmm_ _deepgemm_"),
    Rule("aiter-opus", YES, "gemm", "aiter",
         r"^opus_moe_stage[12]_a\d+w\d+\w*|^(?:pa_prefill|dsa_v32_decode|mla_decode_fwd)_16mx\w*kernel$"
         r"|^kn_mi3\w+_mla_\w*fwd_decode\w*|^gqa_d\d+(?:_v\d+)?_kernel$"
         r"|^paged_attention_decode_(?:sliding_window|v2_gluon)\w*$"
         r"|^_gluon_deepgemm_fp8_paged_mqa_logits\w*$|^mhc_(?:fused_post_)?pre_gemm_sqrsum_kernel$", "@words",
         note="MFMA or WMMA", words="opus_moe_stage 16mx kn_mi3 mhc_ gqa_d paged_attention_decode_ _gluon_deepgemm"),
    Rule("gluon-attention", YES, "attention", "triton",
         r"^(?=\w*gluon)(?!\w*(?:reduce|combine|merge|topk|route|schedule|metadata|cache|norm|rope|quant_|attn_?res"
         r"|push"
         r"|gemv))"
         r"\w*(?:attention|attn|mha|mla|mqa_logits|(?<![a-z])pa_(?:decode|prefill))"
         r"|^gluon_(?:dsv\d+_(?:index_topk|prefill|decode)|kda_paged_prefill_state_scan"
         r"|(?:kpool|dsa)_(?:prefill|decode)_topk_(?:fp8|standard)(?:_plan)?)_gfx\w+$", "@words", knows_better=True,
         note="Gluon, Triton's lower language, in which AITER and TokenSpeed write MFMA, WMMA and tcgen05 themselves",
         of_rest=True, words="gluon"),
    Rule("gluon-product", YES, "gemm", "triton",
         r"^(?=\w*gluon)(?!\w*(?:reduce|combine|merge|topk|route|gemv|warp_|epilogue|quantize|_m1(?![0-9])))"
         r"\w*(?:(?<![a-z])b?mm(?![a-z])|gemm|matmul|moe_stage[12])", "@words", note="as gluon-attention",
         knows_better=True, of_rest=True, words="gluon"),
    Rule("hadamard-butterflies", NO, "elementwise", "custom",
         r"^(?:norm_)?(?:rope_)?hadamard_rotate_activation_\w*quant_\w*kernel$|^had_[fh]f_r_128_(?:dual_)?kernel$"
         r"|^fast_hadamard_transform(?:_\d+N)?_kernel$|^_hadamard_128_kernel$", "@words",
         note="sums and differences, no product of matrices", knows_better=True, words="had_ hadamard"),
    Rule("aiter-normalisation", NO, "normalisation", "aiter", r"\baiter::\w*norm\w*", "@types", words="aiter::"),
    Rule("aiter-sort", NO, "sort", "aiter", r"\baiter::\w*(?:topk|sort|moe_align|grouped_topk)\w*", words="aiter::"),
    Rule("aiter-other", NO, "elementwise", "aiter", r"\baiter::", "@types", of_rest=True, words="aiter::"),
    # Composable Kernel: ``xdl`` is MFMA, ``wmma`` the matrix unit of RDNA, ``dl`` a vector product.
    Rule("ck-convolution", YES, "convolution", "composable_kernel",
         r"\bck::\w*|\bck_tile::\w*|^kernel_grouped_conv\w*|^kernel_batched_gemm_xdlops_bwd_weight", "@ck",
         r"(?i)(?:conv_fwd|conv_bwd|grouped_conv|bwd_weight|bwd_data|GroupedConvolution).*(?:xdl|wmma|mfma)|(?:xdl"
         r"|wmma)\w*(?:conv|bwd_weight|bwd_data)",
         words="ck:: ck_tile:: kernel_batched_gemm_xdlops_bwd_weight kernel_grouped_conv"),
    Rule("ck-tile-other", NO, "normalisation", "composable_kernel",
         r"\bck_tile\b", "@ck",
         r"(?i)rmsnorm|layernorm|norm2d", words="ck_tile"),
    Rule("ck-tile-no", NO, "other", "composable_kernel",
         r"\bck_tile\b", "@ck",
         r"MoeSorting|Reduce\b|Reduce2d|Smoothquant|TopkSoftmax|Permute|Elementwise|Im2Col|ImageToColumn",
         words="ck_tile"),
    Rule("ck-reference", NO, "gemm", "composable_kernel",
         r"\bck(?:_tile)?::(?:\w+::)*(?:naive_|blockwise_gemm|moe_gemm)", "@types",
         note="slow kernels that others are checked with, by elements", knows_better=True, words="ck:: ck_tile::"),
    Rule("ck-vector-ops", NO, "gemm", "composable_kernel",
         r"\bkernel_\w*(?:(?<!x)dlops|gemm_dpp|(?:gemm|conv|contraction)\w*_dl(?:_|$))\w*"
         r"|\bconvolution_forward_implicit_gemm_v\w+_dlops_\w+", "@ck",
         note="vector products: ``dl``, ``dlops``, ``dpp``", knows_better=True, words="dlops gemm_dpp _dl"),
    Rule("ck-beside", NO, "other", "composable_kernel",
         r"\bkernel_(?:(?!\w*gemm)\w*welford_\w+|normalization_bwd_\w+|put_element_1d|(?:multiple_)?buffer_set_value"
         r"|sparse_embeddings_forward_layernorm|tensor_rearrange)$|\bck(?:_tile)?::(?:\w+::)*(?:flush_i?cache"
         r"|set_buffer_value)$",
         "@ck", note="norms, sets and moves", knows_better=True,
         words="welford normalization_bwd put_element buffer_set sparse_embeddings tensor_rearrange flush_ set_buffer"),
    Rule("ck-gemm", YES, "gemm", "composable_kernel",
         r"\bck::|^kernel_\w*(?:gemm|contraction)\w*|\bck_tile\b", "@ck",
         r"(?i)xdl|wmma|mfma", words="ck:: ck_tile gemm contraction"),
    Rule("ck-moe-gemm", YES, "gemm", "composable_kernel", r"\bkernel_moe_(?:mx)?gemm\w*", "@ck",
         note="products of experts, which it has for MFMA alone", words="kernel_moe_"),
    Rule("ck-tile-gemm", YES, "gemm", "composable_kernel", r"\bck_tile\b", "@ck", r"(?i)gemm|flatmm|WarpGemm",
         words="ck_tile"),
    Rule("ck-vector", NO, "gemm", "composable_kernel", r"\bck::", "@ck", r"(?i)_dl(?:_|\b)|GridwiseGemmDl",
         words="ck::"),
    Rule("ck-other", NO, "other", "composable_kernel",
         r"\bck::\w*(?:elementwise|reduce|batchnorm|normalization|softmax|permute)", "@ck",
         r"(?i)elementwise|reduce|norm|softmax|permute|pool|put_element",
         words="ck::"),
    Rule("ck-unknown", UNKNOWN, "other", "composable_kernel", r"\bck::|\bck_tile::", "@ck", words="ck:: ck_tile::"),
    # MIOpen. ``gtcx`` is the assembler GEMM on XDLOPS (MFMA), ``gtc`` and ``gtcm`` the one on vector units.
    Rule("miopen-igemm-xdlops", YES, "convolution", "miopen",
         r"^igemm_(?:fwd|bwd|bwd_data|wrw)_gtcx\d*_|^igemm_\w*xdlops|gridwise_convolution\w*xdlops"
         r"|\bgridwise_\w*xdlops",
         "@words", words="gridwise_ igemm_"),
    Rule("miopen-igemm", NO, "convolution", "miopen",
         r"^igemm_(?:fwd|bwd|wrw)_gtcm?_|^igemm_(?:v4|dynamic)|gridwise_convolution\w*(?:_g?nkd?hw|double_buffer)",
         "@words",
         note="implicit GEMM on vector units", words="gridwise_convolution igemm_"),
    Rule("miopen-igemm-other", UNKNOWN, "convolution", "miopen", r"^igemm_|gridwise_convolution", "@words",
         words="gridwise_convolution igemm_"),
    Rule("miopen-winograd-matrix", YES, "convolution", "miopen", r"^miopenSp3AsmConv(?:Fury|Rage)_", "@words",
         note="Winograd whose products are WMMA on RDNA 3 and later, MFMA on CDNA 3", words="miopensp3asmconv"),
    Rule("miopen-winograd", NO, "convolution", "miopen",
         r"^miopenSp3\w*|Winograd\w*[Xx]form|^sp3Asm\w*|^miopenGcnAsmWinograd|^xform_",
         note="Winograd on vector units", words="miopensp3 sp3asm winograd xform_"),
    Rule("miopen-direct", NO, "convolution", "miopen",
         r"^naive_conv\w*|^MIOpenConv\w*|^MIOpenCv\w*|^miopenGcnAsmConv\w*|^gcnAsmConv\w*|^miopenConv\w*"
         r"|^mlo(?:pen)?Conv\w*|^MIOpenGroupConv\w*", "@words", words="conv miopencv"),
    Rule("miopen-layout", NO, "copy", "miopen",
         r"^(?:Im[23]d2Col|Col2Im[23]d)\w*|^batched_transpose_\w+|^transpose_(?:NCHW2CNHW|CNHW2NCHW|packed)\w*"
         r"|^SubTensorOpWith(?:Cast|Transform|SubTensor)\w*|^tensor_reorder\w*|^general_\w*reorder\w*", "@words",
         words="col2im d2col general_ subtensoropwith tensor_reorder transpose_"),
    Rule("miopen-set", NO, "memory", "miopen", r"^SubTensorOpWithScalar\w*", note="sets a tensor to a number",
         words="subtensoropwithscalar"),
    Rule("miopen-normalisation", NO, "normalisation", "miopen",
         r"^MIOpen\w*(?:BatchNorm|LayerNorm|GroupNorm|Norm)\w*|^MIOpenBN\w*", words="miopen"),
    Rule("miopen-attention", NO, "attention", "miopen", r"^(?:Bwd|Fwd)Attention(?:Block|Common|Warp)$",
         note="the softmax within attention; its products are hipBLASLt's", words="attention"),
    Rule("miopen-softmax", NO, "softmax", "miopen", r"^MIOpen\w*[Ss]oftmax\w*|^Softmax(?:Forward|Backward)\w*",
         knows_better=True, words="miopen softmaxforward softmaxbackward"),
    Rule("miopen-reduction", NO, "reduction", "miopen", r"^gridwise_(?:generic_)?reduce\w*", words="gridwise_"),
    Rule("miopen-elementwise", NO, "elementwise", "miopen",
         r"^(?:Op[1-5]dTensor|OpTensor)\w*|^MIOpen(?:Neuron|Active|Bias|ConvBias)\w*|^LSTM\w*Hid\w*",
         words="dtensor lstm miopen optensor"),
    Rule("miopen-other", NO, "other", "miopen", r"^mlo[A-Z]\w*|^miopen\w*[Pp]ooling\w*|^MIOpen\w+", words="miopen mlo"),
    # rocBLAS, rocPRIM, runtime.
    Rule("rocblas-product", NO, "gemm", "rocblas",
         r"\brocblas_(?:internal_)?(?:gem[mv]|hemv|symv|dot|ger)\w*|\bgemv[ntc]_\w*", "@types",
         note="by elements: the products of matrix cores are Tensile's", knows_better=True, words="gemv rocblas_"),
    Rule("rocblas-other", NO, "other", "rocblas", r"\brocblas_\w*", "@types", knows_better=True, words="rocblas_"),
    Rule("rocsparse-product", NO, "gemm", "rocsparse",
         r"\brocsparse::(?:\w+::)*\w*(?:gemm|mm|mv)\w*_kernel\w*|^bsrgemm_\w+|^gemmit_kernel$", "@types",
         note="no source of rocSPARSE holds a matrix instruction", knows_better=True,
         words="rocsparse bsrgemm_ gemmit_"),
    Rule("rocsparse", NO, "other", "rocsparse", r"\brocsparse\w*", "@types", knows_better=True, words="rocsparse"),
    Rule("rocsolver", NO, "other", "rocsolver",
         r"\brocsolver\w*|^(?:conj_)?(?:non)?unit_(?:forward|backward)_substitution_kernel$"
         r"|^(?:bdsqr|gebd2|gebrd|geqr2|gelq2|getf2|getri|lasyf|latrd|orgl?2|potf2|stedc[jx]?|stein|sterf|syevj?"
         r"|syt[dr][2fd]|sygst)_\w+", "@types",
         note="factors and eigenvalues; its products are rocBLAS's", knows_better=True,
         words="rocsolver substitution bdsqr gebd gebr geqr2 gelq2 getf2 getri lasyf latrd orgl org2 potf2 "
               "sted stein sterf syev syt sygst"),
    Rule("rocfft", NO, "other", "rocfft", r"\brocfft\w*|\bfft_rtc_\w*", words="fft_rtc_ rocfft"),
    Rule("rocclr-memory", NO, "memory", "hip", r"^__amd_rocclr_\w*", note="copies and fills of the HIP runtime",
         words="__amd_rocclr_"),
    Rule("amd-mfma", YES, "gemm", "custom", r"(?i)mfma|xdlops", "@words or types", words="mfma xdlops"),
)  # fmt: skip
