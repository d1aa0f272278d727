"""Kernels of inference servers (vLLM, SGLang, TensorRT-LLM, FlashInfer) beside products and attention."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, YES, Rule

RULES: Final = (
    Rule("moe-align", NO, "sort", "@namespace",
         r"\bmoe_(?:lora_)?align\w*|\bmoe_sum\w*|count_and_sort_expert\w*|\bmoe_permute\w*|expandInputRows\w*"
         r"|\bfinalizeMoeRouting\w*|\bmoeFinalize\w*|_combined_routing\w*|compute_expert_\w*|moe_wna16\w*align"
         r"|\brouting\w*Kernel|routingMainKernel|\bblockExpertPrefixSum\w*|\bglobalExpertPrefixSum\w*"
         r"|\bmergeExpertPrefixSum\w*|fusedBuildExpertMaps\w*|^moe::dev::(?!\w*(?:gemm|Gemm))\w+", "@types",
         knows_better=True,
         words="align blockexpertprefixsum compute_expert_ count_and_sort_expert expandinputrows "
               "fusedbuildexpertmaps globalexpertprefixsum mergeexpertprefixsum moe::dev:: moe_permute moe_sum "
               "moe_wna16 moefinalize routing"),
    Rule("moe-wna16", NO, "gemm", "@namespace", r"\bmoe_wna16_gemm\w*", "@types",
         note="half2 FMA on dequantised weights",
         words="moe_wna16_gemm"),
    Rule("gated-delta-split", NO, "copy", "triton", r"^_?fused_qkvzba_split_\w+",
         note="parts of one projection to their places", words="fused_qkvzba_split_"),
    Rule("sampling", NO, "random", "@namespace", r"(?:sampling|Sampling|TopP|top_p|rejection_sample|gumbel)\w*",
         words="gumbel rejection_sample sampling top_p topp"),
    Rule("deep-gemm-activation", NO, "elementwise", "triton",
         r"(?:^|::)_?silu_mul_(?:fp8_quant_|bf16_)?deep_gemm\w*$", "@words",
         note="the activation before DeepGEMM's second product", knows_better=True, words="silu_mul_"),
    Rule("latent-cache-write", NO, "copy", "@namespace",
         r"^(?!\w*(?:bmm|gemm)).*(?:(?:cat|concat)_and_cache_mla|gather_mla_cache|cp_mha_gather_cache"
         r"|store_mla_kv_cache|flatten_kv_cache|mla_copy_)\w*",
         "@types",
         note="writes the latent of MLA where attention will read it", knows_better=True,
         words="_and_cache_mla gather_mla_cache cp_mha_gather store_mla_kv_cache flatten_kv_cache mla_copy_"),
    Rule("vllm-step", NO, "other", "vllm",
         r"^_prepare_\w+_inputs_kernel$|^postprocess_mamba_(?:\w+_)?kernel$|^_compute_local_logits_stats_kernel$"
         r"|\bvllm::\w+::fusedKimiK3MLA\w*Concat\w*Kernel", "@words or types", knows_better=True,
         note="what a step of vLLM does beside the model: inputs of drafts, states, sampling, MLA's cache",
         words="_inputs_kernel postprocess_mamba logits_stats fusedkimi"),
    Rule("kv-cache-write", NO, "copy", "@namespace",
         r"\bget_num_kv_splits\w*|^_?kv_transfer_\w+|^_?fused_kv_compress_norm_rope_insert_\w+"
         r"|\bfused_store_\w*cache$|_set_kv_buffer_kernel$"
         r"|\b(?:reshape_and_cache"
         r"|concat_and_cache|copy_blocks|swap_blocks|store_kv_?cache|set_mla_kv_buffer"
         r"|cp_gather_cache|gather_cache|append_paged_\w*kv_cache|AppendPagedKV"
         r"|create_\w*kv_indices|write_req_to_token)\w*", "@types",
         note="writes keys and values where attention will read them", knows_better=True,
         words="kv_compress kv_transfer get_num_kv_splits fused_store_ set_kv_buffer append_paged_ appendpagedkv "
               "concat_and_cache "
               "copy_blocks gather_cache kv_indices reshape_and_cache "
               "set_mla_kv_buffer store_kv swap_blocks write_req_to_token"),
    Rule("kv-cache", NO, "copy", "@namespace",
         r"^(?!.*(?:Prefill|Decode|POD)).*(?i:kv_?cache|reshape_and_cache|concat_and_cache|copy_blocks"
         r"|swap_blocks|store_kv|append_paged"
         r"|write_req_to_token|kv_indices|mla_kv|cache_mla)\w*", "@types",
         words="append_paged cache copy_blocks kv_indices mla_kv store_kv swap_blocks write_req_to_token"),
    Rule("activation", NO, "elementwise", "@namespace",
         r"(?i:act_and_mul|silu|gelu|swiglu|geglu|relu|activation|sigmoid|tanh)\w*", "@types",
         words="act_and_mul activation geglu gelu relu sigmoid silu swiglu tanh"),
    Rule("quartet-quantise", YES, "gemm", "custom", r"^quantize_g\d+q?t_cuda_", knows_better=True,
         note="turns groups by a Hadamard matrix with wmma before it quantises them", words="quantize_g"),
    Rule("quantise-by-part", NO, "elementwise", "@namespace",
         r"(?:^|_)per_(?:tensor|token|group|block|channel)(?:_group)?_(?:\w+_)?quant(?:ize)?_"
         r"(?!\w*(?:(?<!deep_)gemm|matmul|_mm_))\w*$", "@words or types",
         note="scales of tensors, tokens or groups, whatever will multiply them", knows_better=True, words="per_"),
    Rule("quantise", NO, "elementwise", "@namespace",
         r"(?i:quant(?:ize|ise)?|dequant\w*|\bcvt_\w*to_fp[48]|scaled_fp8|scaled_int8|per_token_group)\w*",
         "@words or types", words="per_token_group quant scaled_fp8 scaled_int8 to_fp"),
    Rule("index-plan", NO, "other", "@namespace",
         r"\bresolve_future\w*|compute_position\w*|\badvance_step\w*|\bcompute_slot\w*|\bprepare_\w*"
         r"|\bget_num_kv_splits\w*|\bbuild_\w*|\bassign_\w*|_indices_|create_\w*indices\w*",
         words="_indices_ advance_step assign_ build_ compute_position compute_slot create_ get_num_kv_splits "
               "prepare_ resolve_future"),
    Rule("query-key-norm", NO, "normalisation", "",
         r"^(?!\w*[hH]adamard)\w*?(?:(?<![A-Za-z])qk(?!v)|QK(?!V))\w*?(?:[nN]orm|[rR]ope|RMS|[rR]otary)\w*", "@types",
         note="norms and turns queries and keys before their product", words="ope orm otary rms"),
    Rule("rotary-latent", NO, "elementwise", "@namespace",
         r"\b(?:apply)?MLARope\w*|\bRopeQuantize\w*|(?:^|::)_?mla_rope_\w*", "@types",
         note="turns and stores the latent of MLA; no attention", knows_better=True,
         words="mla_rope_ mlarope ropequantize"),
    Rule("vllm-other", NO, "other", "vllm", r"\bvllm::", "@types",
         note="vLLM calls libraries for products, except where a name says otherwise", of_rest=True, words="vllm::"),
    Rule("trtllm-other", NO, "other", "tensorrt_llm",
         r"\btensorrt_llm::kernels::(?!\w*(?:gemm|Gemm|mma|attention|fmha))\w+", "@types", of_rest=True,
         words="tensorrt_llm::kernels::"),
)  # fmt: skip
