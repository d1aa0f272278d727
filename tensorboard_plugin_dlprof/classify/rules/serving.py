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
         knows_better=True),
    Rule("moe-wna16", YES, "gemm", "@namespace", r"\bmoe_wna16_gemm\w*", "@types", note="mma on dequantised halves"),
    Rule("unsloth-rope", NO, "elementwise", "triton", r"^_rope_embedding(?:_QK)?$",
         note="turns queries and keys before their product", knows_better=True),
    Rule("gated-delta-split", NO, "copy", "triton", r"^_?fused_qkvzba_split_\w+",
         note="parts of one projection to their places"),
    Rule("sampling", NO, "random", "@namespace", r"(?:sampling|Sampling|TopP|top_p|rejection_sample|gumbel)\w*"),
    Rule("kv-cache-write", NO, "copy", "@namespace",
         r"\b(?:reshape_and_cache|concat_and_cache|copy_blocks|swap_blocks|store_kv_?cache|set_mla_kv_buffer"
         r"|cp_gather_cache|gather_cache|append_paged_\w*kv_cache|AppendPagedKV"
         r"|create_\w*kv_indices|write_req_to_token)\w*", "@types",
         note="writes keys and values where attention will read them", knows_better=True),
    Rule("kv-cache", NO, "copy", "@namespace",
         r"^(?!.*(?:Prefill|Decode|POD)).*(?i:kv_?cache|reshape_and_cache|concat_and_cache|copy_blocks|swap_blocks|store_kv|append_paged"
         r"|write_req_to_token|kv_indices|mla_kv|cache_mla)\w*", "@types"),
    Rule("activation", NO, "elementwise", "@namespace",
         r"(?i:act_and_mul|silu|gelu|swiglu|geglu|relu|activation|sigmoid|tanh)\w*", "@types"),
    Rule("quantise", NO, "elementwise", "@namespace",
         r"(?i:quant(?:ize|ise)?|dequant\w*|\bcvt_\w*to_fp[48]|scaled_fp8|scaled_int8|per_token_group)\w*",
         "@words or types"),
    Rule("index-plan", NO, "other", "@namespace",
         r"\bresolve_future\w*|compute_position\w*|\badvance_step\w*|\bcompute_slot\w*|\bprepare_\w*"
         r"|\bget_num_kv_splits\w*|\bbuild_\w*|\bassign_\w*|_indices_|create_\w*indices\w*"),
    Rule("sglang-group-norm", NO, "normalisation", "@namespace",
         r"\bgroupnorm_kernel_dispatch\w*", "@types", knows_better=True),
    Rule("query-key-norm", NO, "normalisation", "",
         r"^(?!\w*[hH]adamard)\w*?(?:(?<![A-Za-z])qk(?!v)|QK(?!V))\w*?(?:[nN]orm|[rR]ope|RMS|[rR]otary)\w*", "@types",
         note="norms and turns queries and keys before their product"),
    Rule("rotary-latent", NO, "elementwise", "@namespace",
         r"\b(?:apply)?MLARope\w*|\bRopeQuantize\w*|\bmla_rope_\w*", "@types",
         note="turns and stores the latent of MLA; no attention", knows_better=True),
    Rule("vllm-other", NO, "other", "vllm", r"\bvllm::", "@types",
         note="vLLM calls libraries for products, except where a name says otherwise", of_rest=True),
    Rule("trtllm-other", NO, "other", "tensorrt_llm",
         r"\btensorrt_llm::kernels::(?!\w*(?:gemm|Gemm|mma|attention|fmha))\w+", "@types", of_rest=True),
)  # fmt: skip
