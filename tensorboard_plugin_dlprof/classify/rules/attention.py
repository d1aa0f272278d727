"""Fused attention. The main kernels hold two products and use matrix units; their helpers (combine, convert) do not."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

RULES: Final = (
    # Helpers first: their names contain those of the main kernels.
    Rule("flash-helper", NO, "attention", "flash_attention",
         r"flash_fwd_(?:splitkv_)?(?:mla_)?combine|flash_bwd_(?:dot_do_o|convert_d|clear_d|preprocess|postprocess)"
         r"|get_mla_metadata|prepare_varlen_num_blocks|flash_fwd_mla_combine|smxx::\w*(?:combine|get_mla)"
         r"|\bFlashAttnFwdCombine", "@types",
         note="sums, casts and clears around the products",
         words="combine flash_bwd_ flash_fwd_ get_mla prepare_varlen_num_blocks"),
    Rule("flash3-helper", NO, "attention", "flash_attention",
         r"\bdevice_kernel|^kernel_cutlass", "@types",
         r"FmhaKernelBwd(?:SumOdO|Convert)|Fmha\w*Reduction(?:Kernel)?"
         r"|FlashAttn(?:Fwd)?Combine|FlashAttnBwd(?:Preprocess|Postprocess)|FlashAttentionForwardCombine"
         r"|FlashAttentionBackward(?:Preprocess|Postprocess)|flash_(?:bwd_(?:pre|post)process|fwd_combine)",
         words="device_kernel kernel_cutlass"),
    Rule("cutlass-dsl-mla-sum", NO, "attention", "cutlass",
         r"^kernel_cutlass_reduction_kernel_\w*Attention", "@words", knows_better=True,
         note="sums the splits of CUTLASS's decoding", words="kernel_cutlass_reduction"),
    Rule("cutlass-dsl-mla", YES, "attention", "cutlass",
         r"^kernel_cutlass_split_kv_kernel_\w*Attention", "@words", note="CUTLASS's decoding of MLA: tcgen05",
         words="kernel_cutlass_split_kv"),
    Rule("cudnn-attention-helper", NO, "attention", "cudnn",
         r"cudnn::fusion::|compute_dot_do_o|\bconvert_dq(?:_to_16bits)?\b", "@types",
         words="compute_dot_do_o convert_dq cudnn::fusion::"),
    Rule("flashinfer-helper", NO, "attention", "flashinfer",
         r"(?:MergeState|MergeStates|VariableLengthMergeStates|VariableLengthAttentionSum|AttentionSum)\w*Kernel"
         r"|merge_attn_states|merge_state", words="attentionsum merge_attn_states merge_state mergestate"),
    Rule("flashinfer-decode-mma", YES, "attention", "flashinfer",
         r"(?:Batch|Single)Decode\w*Kernel\w*(?:Cute|S[mM]\d)", "@types", note="MLA's many heads share a key: mma",
         words="decode"),
    Rule("flashinfer-decode", NO, "attention", "flashinfer",
         r"(?:Batch|Single)Decode\w*Kernel", "@types",
         note="one query per head: dot products on CUDA cores", words="decode"),
    Rule("fmha-reference", NO, "attention", "cutlass",
         r"(?:^|::|_)fmha_\w*reference\w*", "@types", note="CUTLASS's examples check themselves with it, by elements",
         words="reference"),
    Rule("fmha-combine", NO, "attention", "@namespace",
         r"(?:^|::)fmha_\w*combine\w*", "@words or types", note="sums the parts of a split attention", words="combine"),
    Rule("trtllm-decode-helper", NO, "attention", "tensorrt_llm",
         r"fmhaReductionKernel|\bapplyBiasRopeUpdateKVCache|computeSeqAndPaddingOffsets|kernel_mha_reduce",
         words="applybiasropeupdatekvcache computeseqandpaddingoffsets fmhareductionkernel kernel_mha_reduce"),
    Rule("ck-attention-helper", NO, "attention", "composable_kernel",
         r"\bck_tile\b", "@types",
         r"FmhaFwdSplitKVCombine|FmhaBwdOGradDotO|FmhaBwdConvertQGrad|FmhaFwdAppendKV", words="ck_tile"),
    Rule("paged-attention-reduce", NO, "attention", "vllm",
         r"paged_attention\w*_reduce|paged_attention_ll4mi_reduce", words="paged_attention"),

    # FlashAttention 2, 3, 4 and FlashMLA. They take one structure of parameters; a kernel of that name which takes
    # bare pointers is somebody's own.
    Rule("flash-mma", YES, "attention", "custom", r"^flash_(?!\w*combine)\w*_(?:w|wg)?mma_", "@types",
         note="the instruction stands in the name", words="flash_"),
    Rule("flash-own", UNKNOWN, "attention", "custom",
         r"^flash_(?!attn_(?:ext|tile|vec|combine|mask|stream_k))\w+$", "@types",
         r"\A[^(]*\((?:const )?(?:float|half|__half|double|__nv_bfloat16|nv_bfloat16|T1)(?: const)? ?\*",
         note="a kernel named like FlashAttention's, with other parameters", words="flash_"),
    Rule("flash2", YES, "attention", "flash_attention",
         r"\bflash_fwd_(?:kernel|block_kernel|sparse_kernel|splitkv_(?:kernel|mla)|mla_kernel|sm\d|v\d)\w*"
         r"|\bflash_bwd_(?:(?:block_)?dq_dk_dv|kernel"
         r"|sm\d)\w*"
         r"|\bflash_attention_(?:fwd|bwd)\w*|\bFlash(?:Fwd|Bwd)", "@types", words="flash"),
    Rule("flash3", YES, "attention", "flash_attention",
         r"\bdevice_kernel|^kernel_cutlass|\benable_sm\d+", "@types",
         r"FlashAttn(?:Fwd|Bwd)(?:Sm\d|<)|FlashAttention(?:Forward|Backward|MLAForward)Sm\d|flash_(?:fwd|bwd)_sm\d+"
         r"|CollectiveMainloop(?:Fwd|Bwd)(?:Sm|<)|Sm(?:90|1\d\d)Fmha\w*(?:Kernel(?!Red)|Mainloop)"
         r"|FusedMultiHeadAttention|Fmha(?:Fwd|Bwd)?Kernel(?=Tma|<|I|E)",
         words="device_kernel enable_sm kernel_cutlass"),
    Rule("flash3-first", YES, "attention", "flash_attention",
         r"(?:^|\bflash::)compute_attn_ws", "@types", note="its first releases: warp-specialised, with wgmma",
         words="compute_attn_ws"),
    Rule("flash4", YES, "attention", "flash_attention",
         r"\bFlash(?:Attention(?:MLA)?(?:Forward|Backward)|Attn(?:Fwd|Bwd))Sm\d+\w*", "@words or types",
         words="flashatt"),
    Rule("flash1", YES, "attention", "flash_attention",
         r"\bfmha_(?:fprop|dgrad|bwd|fwd|block_fprop|block_dgrad)\w*_(?:loop|sm\d+)\w*|\bfmha_bwd_dq_dk_dv",
         "@words or types", words="fmha_"),
    Rule("flash-mla", YES, "attention", "flash_attention",
         r"flash_fwd_splitkv_mla|\bflash_mla|sparse_attn_fwd|^sm(?:90"
         r"|100)::(?:fwd(?!_prod)|decode)|^(?:legacy::)?sm(?:90"
         r"|100)::(?:\w+::)+core_attn::fwd_kernel$", "@types", words="decode flash_mla fwd"),
    Rule("lean-attention", YES, "attention", "flash_attention", r"\bmobaattn|block_sparse_attn_fwd", "@types",
         words="block_sparse_attn_fwd mobaattn"),

    # PyTorch's memory-efficient attention and xFormers. FP32 on Ampere and later is computed as three TF32 products
    # (CUTLASS OpMultiplyAddFastF32); FP32 before, and anything before Volta, on CUDA cores.
    Rule("memory-efficient-simt", NO, "attention", "cutlass",
         r"\bfmha_cutlass[FB]_(?:f32_\w*sm(?:50|60|61|70|72|75)|\w*sm(?:50|60|61)\b)", "@words", words="fmha_cutlass"),
    Rule("memory-efficient-tf32", YES, "attention", "cutlass",
         r"\bfmha_cutlass[FB]_f32_\w*sm(?:8|9|1[0-2])\d", "tf32",
         note="CUTLASS computes FP32 attention as TF32 products on Ampere and later", words="fmha_cutlass"),
    Rule("memory-efficient", YES, "attention", "cutlass",
         r"\bfmha_cutlass[FB]_(?:f16|bf16)_\w*sm(?:7|8|9|1[0-2])\d", "@words", words="fmha_cutlass"),
    Rule("memory-efficient-other", UNKNOWN, "attention", "cutlass", r"\bfmha_cutlass", "@words", words="fmha_cutlass"),
    Rule("xformers-simt", NO, "attention", "xformers",
         r"\battention_kernel_(?:backward_)?batched", "fp32",
         r"Attention(?:Backward)?Kernel<float, (?:true|false, )?cutlass::arch::Sm(?:50|60|70|75)"
         r"|Attention(?:Backward)?Kernel<[^<>]*cutlass::arch::Sm(?:50|60)", words="attention_kernel_"),
    Rule("xformers", YES, "attention", "xformers",
         r"\battention_kernel_(?:backward_)?batched", "@memory efficient",
         r"cutlass::arch::Sm\d\d", words="attention_kernel_"),

    Rule("natten-simt", NO, "attention", "natten",
         r"\b(?:fna[123]d|fmha)_(?:backward_)?\d+x\d+x\d+_sm(?:50_|(?:60|70|75)_float32)\w*", "@natten",
         note="built for GPUs without Tensor Cores, or for FP32 before TF32", words="fna fmha"),
    Rule("natten-generated", YES, "attention", "natten",
         r"\b(?:fna[123]d|fmha)_(?:backward_)?\d+x\d+x\d+_sm\d+_(?:float16|bfloat16|float32)\w*", "@natten",
         note="CUTLASS products of its tile, architecture and type; FP32 as TF32", words="fna fmha"),
    Rule("natten-naive", NO, "attention", "natten",
         r"\bnatten::(?:\w+::)*(?:naive|reference)::|\bfna_(?:bwd_)?reference_\w+", "@types", note="by elements",
         words="natten fna_"),
    Rule("natten", YES, "attention", "natten",
         r"\bnatten::cuda::\w+::\w*(?:Kernel|Attention)\w*", "@memory efficient",
         r"half_t|bfloat16_t|arch::Sm(?:8|9|1[0-2])\d",
         note="neighbourhood attention on CUTLASS", words="natten::cuda::"),
    Rule("natten-other", UNKNOWN, "attention", "natten", r"\bnatten::", "@types", words="natten::"),
    # cuDNN.
    Rule("cudnn-attention", YES, "attention", "cudnn",
         r"cudnn_generated_\w*(?:sdpa|mha|flash|attention)|^cudnn\w*_(?:sdpa|fmha|flash)\w*", "@words", words="cudnn"),
    # TensorRT, TensorRT-LLM, FlashInfer.
    Rule("trt-fmha", YES, "attention", "tensorrt_llm",
         r"^(?!.*\baiter::).*(?:\bfmha_v2_|\b[fF]mhaSm\d+|\bfmha_mhca_|\bmha_v2_|\bfmhca_|\bfmha_(?:fp16|bf16"
         r"|int8|e4m3)"
         r"|^fused_multihead_attention\w*_sm\d)", "@trtllm",
         words="fmha_ fmhca_ fused_multihead_attention mha_v2_ mhasm"),
    Rule("trt-xqa", YES, "attention", "tensorrt_llm",
         r"(?:^|::)kernel_mha$|^kernel_mha\b|\bxqa_kernel|\bmlaKernel|^mla_kernel",
         words="kernel_mha mla_kernel mlakernel xqa_kernel"),
    Rule("mmha", UNKNOWN, "attention", "tensorrt_llm",
         r"masked_multihead_attention|\bmmha_",
         note="decoding attention that is built with or without HMMA", words="masked_multihead_attention mmha_"),
    Rule("flashinfer", YES, "attention", "flashinfer",
         r"(?:Batch|Single)Prefill\w*Kernel|PrefillWithKVCacheKernel|BatchMLAPaged?Attention\w*|BatchPODAttention"
         r"|PODWithKVCache|BatchAttention\w*Kernel|PersistentKernelTemplate", "@types",
         words="batchattention batchmlapage batchpodattention persistentkerneltemplate podwithkvcache prefill"),
    Rule("sage-quantise", NO, "elementwise", "sage_attention",
         r"\bsage_quant|\bquant_(?:per_block|per_warp|per_thread|query|key)\w*(?:int8|kernel)|\bQuantInt8Kernel"
         r"|\bMeanScaleKernel|\bSubMeanKernel|\bTransposePadPermuteKernel", "@words or types",
         words="meanscalekernel quant_ quantint8kernel sage_quant submeankernel transposepadpermutekernel"),
    Rule("sage", YES, "attention", "sage_attention",
         r"\b_?sage_fwd|\bqk_int[48]?_sv_f(?:8|16)\w*|\bsageattn", "int8",
         note="Q times K in INT8", words="qk_int sage_fwd sageattn"),
    Rule("llama-cpp-flash-no", NO, "attention", "ggml",
         r"\bflash_attn_(?:ext_vec|vec_ext|tile_ext|tile|(?:mma_)?combine|stream_k_fixup|mask_to_KV_max)", "@types",
         words="flash_attn_"),
    Rule("llama-cpp-flash", YES, "attention", "ggml", r"\bflash_attn_(?:ext_f16|ext_mma|mma_ext)\w*", "fp16",
         words="flash_attn_"),

    # vLLM, SGLang, AITER, AOTriton. ``tl.dot`` on 16-bit operands runs on matrix units wherever there are any.
    Rule("vllm-paged-mfma", YES, "attention", "vllm", r"paged_attention\w*(?:mfma|wmma)\w*", "@words or types",
         words="paged_attention"),
    Rule("vllm-paged", NO, "attention", "vllm",
         r"\bpaged_attention_(?:v1|v2)(?:_kernel)?\b|single_query_cached_kv_attention", "@types",
         note="one query per sequence: dot products on CUDA cores",
         words="paged_attention_ single_query_cached_kv_attention"),
    Rule("triton-expert-scatter", NO, "embedding", "triton",
         r"^_fwd_kernel_ep_(?:scatter|gather)\w*", note="rows to their experts and back", words="_fwd_kernel_ep_"),
    Rule("triton-unified-attention", YES, "attention", "triton",
         r"^kernel_unified_attention(?:_[23]d\w*)?$",
         note="tl.dot on the model's 16-bit types", words="kernel_unified_attention"),
    Rule("triton-paged-attention", UNKNOWN, "attention", "triton",
         r"^kernel_paged_attention_2d\w*", note="by elements at first, with tl.dot since it serves grouped queries",
         words="kernel_paged_attention_2d"),
    Rule("triton-grouped-decode", YES, "attention", "triton", r"^_fwd_grouped_(?:\w+_)?kernel(?:_stage1\w*)?$",
         note="heads that share a key are the rows of a tl.dot", words="_fwd_grouped_"),
    Rule("triton-verify", YES, "attention", "triton", r"^_verify_(?:mla_)?prefix_stage1\w*",
         note="the tokens that a draft model proposed are the rows of a tl.dot", words="prefix_stage1"),
    Rule("triton-verify-combine", NO, "attention", "triton", r"^_verify_(?:mla_)?combine_stage2\w*", knows_better=True,
         words="combine_stage2"),
    Rule("sparse-attention-indexer", YES, "attention", "deep_gemm",
         r"^_?fp8_index_kernel\w*|^_?fp8_(?:paged_)?mqa_logits\w*", "fp8",
         note="scores of DeepSeek's sparse attention: products of FP8", words="fp8_index_kernel mqa_logits"),
    Rule("triton-decode", NO, "attention", "triton",
         r"^_fwd_kernel_(?:flash_decode_|gqa_(?:flash_)?decode_)?stage2\w*|^_fwd_kernel_stage1\w*"
         r"|^_tq_decode_stage1$|^_sparse_fwd_kernel_flash_decode_\w+|^_decode_softmax_reducev\w*|^_fwd_splitk_reduce",
         note="no tl.dot: products by elements and sums", words="_decode_ _fwd_kernel_ _fwd_splitk_reduce"),
    Rule("attention-reduce", NO, "attention", "triton", r"^reduce_segments$|^_attn_reduce|^_splitK_reduce",
         words="_attn_reduce _splitk_reduce reduce_segments"),
    Rule("triton-attention-preprocess", NO, "attention", "triton",
         r"^(?:_attn_|_)?(?:bwd_)?preprocess(?:_do_o_dot|_use_o)?$|^_attn_bwd_preprocess|^bwd_preprocess\w*"
         r"|^_bwd_preprocess\w*", words="preprocess"),
    Rule("aotriton", YES, "attention", "triton",
         r"^attn_fwd$|^bwd_kernel_(?:dk_dv|dq|fuse)$", "",
         r"^\w+$",
         note="AOTriton, on AMD: tl.dot of every type it is built for, FP32 too, is matrix instructions",
         words="attn_fwd bwd_kernel_"),
    Rule("attention-helper", NO, "attention", "@namespace",
         r"^(?!kn_|_dsa_attn_combine|_mla_decode_combine)_?\w*(?:attn|attention|mla|mha|_pa)_\w*(?:reduce|combine"
         r"|merge|preprocess|postprocess|metadata|schedule)(?:v|_kernel|_segments|_splits|_fp16"
         r"|_per_token_quant|_stage2|_basic_kernel|_v\d+)*$|^mha_v\d_per_tensor_(?:amax|quant"
         r"|scale)_kernel$", "@types",
         note="sums, maxima and plans before and after the products", knows_better=True,
         words="attn_ attention_ mla_ _pa_ mha_"),
    Rule("triton-paged-dot", YES, "attention", "triton", r"^_paged_attn_decode_v[12]_w_dot_kernel\w*",
         note="tl.dot for heads that share a key", words="_w_dot_kernel"),
    Rule("triton-paged-elements", NO, "attention", "triton", r"^_paged_attn_decode_v[12]_wo_dot_kernel\w*",
         note="without tl.dot: by elements", words="_wo_dot_kernel"),
    Rule("triton-mla", YES, "attention", "triton", r"^_mla_(?:decode|prefill)_fwd_kernel(?:_non_pipelined)?$",
         note="many heads share a latent: tl.dot on 16-bit or FP8 operands", words="_fwd_kernel"),
    Rule("hstu-helper", NO, "attention", "fbgemm", r"(?:^|::)hstu_bwd_convert_dq_kernel$", knows_better=True,
         words="hstu_bwd_convert"),
    Rule("hstu", YES, "attention", "fbgemm",
         r"(?:^|::)hstu_(?:fwd|bwd)_(?:kernel|compute_dq_dk_dv_kernel)$|^_hstu_attn_(?:fwd|bwd)\w*", "@types",
         note="attention of recommenders: FlashAttention's products without the softmax, on 16-bit types",
         words="hstu_"),
    Rule("jagged-attention", YES, "attention", "triton",
         r"^_?(?:multi_head_)?jagged_(?:dense_)?flash_attention_\w*kernel$", note="tl.dot", words="flash_attention"),
    Rule("lightllm-helper", NO, "attention", "triton",
         r"^_fwd_kernel_(?:apply_penalty\w*|calcu_index\w*|init_att_window\w*|repack_kv_index|token_att[12]\w*"
         r"|extract_\w+|gather\w*|mtp_\w+|gen_\w+|fill_\w+|\w+_slab\w*"
         r"|token_softmax)$",
         note="one query by elements; plans and penalties", words="_fwd_kernel_"),
    Rule("triton-attention-copy", NO, "copy", "triton",
         r"^_fwd_kernel_(?:destindex_)?copy_\w+", note="keys and values to their places", words="_fwd_kernel_"),
    Rule("triton-attention", UNKNOWN, "attention", "triton",
         r"^_?attn_(?:fwd|bwd)\w*|^_?bwd_kernel_d\w+|^bwd_kernel_\w+|^_(?:fwd|bwd)_kernel\w*"
         r"|^_flash_attention_forward\w*|^_flash_attn\w*|^flash_attention_kernel$",
         note="a Triton attention; the name does not tell the operands' type",
         words="_flash_attention_forward _flash_attn attn_ bwd flash_attention_kernel fwd"),
    Rule("ck-attention", YES, "attention", "composable_kernel",
         r"\bck_tile\b|\bck::", "@types",
         r"Fmha(?:Fwd|BatchPrefill)(?:Kernel|SplitKV(?:Kernel|Tile|Pipe)|Paged|V3|Pipeline|_)|FmhaBwd(?:DQDKDV|_)"
         r"|BlockFmha|UnifiedAttention", words="ck:: ck_tile"),
    Rule("aiter-attention-gradient", NO, "attention", "aiter",
         r"\bfmha_bwd_\w*(?:_odo|_dq_[cs])\w*", "@words or types",
         note="sums and conversions around the products of the gradient", words="fmha_bwd_"),
    Rule("aiter-attention", YES, "attention", "aiter",
         r"\baiter::(?:fmha_|mla_(?:a|pfl|dec|bf|n)|(?i:pa_(?:decode_)?(?:bf16|fp16|a\d+w\d+|noquant|fp8)))\w*"
         r"|^(?:fmha_(?:fwd|bwd)_hd|mla_a16w|mla_a8w|fmha_v3_)\w*", "@aiter", words="aiter:: fmha_ mla_a16w mla_a8w"),
    Rule("aiter-attention-helper", NO, "attention", "aiter",
         r"\baiter::(?:mla_|kn_mla|kn_get_mla|pa_)\w*(?:reduce|metadata|combine)\w*|^kn_mla_reduce|\bmla_reduce"
         r"|\bmetadata_v1", words="aiter:: metadata_v1 mla_reduce"),
    Rule("apex-fmha", YES, "attention", "apex", r"^fmha_(?:fprop|dgrad)_(?:fp16|bf16)_\d+_\d+\w*", "@words",
         note="Apex's attention for one sequence length", words="fmha_"),
    Rule("aiter-native-attention", YES, "attention", "aiter", r"^fmha_fwd_d\d+_(?:bf16|fp16)_msk\d\w*", "@words",
         note="MFMA on 16-bit operands", words="fmha_fwd_d"),
    Rule("xmma-attention", YES, "attention", "apex", r"^fmha::\w+", "@words or types", r"_[hiq]g?mma_",
         words="fmha::"),
)  # fmt: skip
