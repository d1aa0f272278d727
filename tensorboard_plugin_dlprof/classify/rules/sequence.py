"""State-space models and linear attention: Mamba's and flash-linear-attention's kernels, most of them Triton's.

Their chunked forms multiply a chunk's matrices by ``tl.dot`` on the model's 16-bit types, as attention does, and are
filed under it. Their recurrent forms, scans and cumulative sums multiply by elements.
"""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

_FORMS = (
    r"(?:delta_rule|gated_delta_rule|gla|kda|gdn|retention|simple_gla|rwkv[67]?|abc|hgrn|gsa|linear_attn|dplr|iplr)"
)

RULES: Final = (
    Rule("short-convolution", NO, "convolution", "mamba",
         r"(?:^|::|_)causal_conv1d_\w+|(?:^|::|_)causal_conv1d$|\bcausal_shortconv\w*|\bshort_conv\w*", "@types",
         note="a convolution of a few taps by channel", words="causal_conv1d causal_shortconv short_conv"),
    Rule("selective-scan", NO, "reduction", "mamba",
         r"(?:^|::|_)selective_(?:scan|state)_\w*", "@types", note="Mamba's scan, by elements", words="selective_"),
    Rule("mamba-helper", NO, "reduction", "mamba",
         r"^_?(?:chunk_cumsum|state_passing)_(?:fwd|bwd)_kernel\w*|^_ssd_state_passing_kernel$"
         r"|^_chunk_scan_bwd_dz_kernel\w*",
         note="sums and decays between the chunks", knows_better=True,
         words="_chunk_scan_bwd_dz_kernel chunk_cumsum state_passing"),
    Rule("linear-attention-sums", NO, "reduction", "fla",
         r"^chunk_(?:local|global|comba)_cumsum_(?:scalar|vector)\w*|^(?:gdn|kda)_gate_(?!chunk_fwd)\w*kernel$"
         r"|^chunk_(?:fwd|bwd)_kernel_d?h_reduction$|^parallel_\w+_bwd_kernel_preprocess$|^parallel_nsa_kernel_mask$"
         r"|^chunk_delta_attn_gate_fwd_kernel$"
         r"|^(?:copy_last_chunk|chunk_gate_cumsum)_kernel$|^chunk_(?:gla"
         r"|rwkv6)_fwd_A_kernel_intra_sub_intra_(?:merge|split)$"
         r"|^solve_tril_16x16_kernel$|^rwkv_(?:seq_mix|mix_bwd)_ken\w+|^rwkv_channel_mixing_\w+",
         note="sums, gates and copies around the products of chunks", knows_better=True,
         words="_cumsum_ _gate_ _reduction preprocess copy_last_chunk sub_intra_ solve_tril_16x16 rwkv_ "
               "nsa_kernel_mask"),
    Rule("linear-attention-ieee", NO, "reduction", "fla",
         r"^fused_recurrent_rwkv6_bwd_kernel_dw$|^logcumsumexp_fwd_kernel$",
         note="sums over time by a tl.dot that asks for IEEE FP32",
         words="rwkv6_bwd_kernel_dw logcumsumexp"),
    Rule("ggml-sequence", NO, "reduction", "ggml",
         r"^(?:ssm_scan|rwkv_wkv7?|gated_linear_attn|gated_delta_net)_(?:f32|cuda)\w*"
         r"|^ssm_conv_\w*f32\w*|^solve_tri_f32\w*|^ssm_ssd_(?:scale_state|init_state|prepare_dt|pre_matmul)_kernel$"
         r"|^lightning_indexer_kernel_vec$", "fp32",
         note="one step after another, by elements", knows_better=True,
         words="lightning_indexer ssm_s ssm_conv rwkv_wkv gated_linear_attn gated_delta_net solve_tri_"),
    Rule("linear-attention-elements", NO, "reduction", "fla",
         r"^chunk_(?:\w+_)?(?:fwd|bwd)_kernel_(?:rcum_inter|cum)$|^chunk_hgrn_\w+"
         r"|^chunk_\w*kernel_(?:intra_)?sub_intra$"
         r"|^chunk_\w*kernel_intra_(?:sub_intra|token_parallel)$|^chunk_dplr_bwd_kernel_intra$"
         r"|^_chunk_scan_bwd_ddAcs_unstable_kernel$",
         note="sums and products by elements within a chunk", knows_better=True,
         words="chunk_ kernel_intra_ sub_intra"),
    Rule("mamba-chunk", YES, "attention", "mamba",
         r"^_ssd_chunk_(?:scan|state)_kernel$|^_(?:bmm_chunk|chunk_state|chunk_state_varlen|chunk_scan"
         r"|chunk_scan_chunk_state"
         r"|mamba_chunk_scan\w*)_(?:fwd|bwd)"
         r"(?:_\w+)?$", note="Mamba-2: tl.dot on the model's 16-bit types", words="bmm_chunk chunk_scan chunk_state"),
    Rule("linear-attention-recurrent", NO, "reduction", "fla",
         rf"^(?!\w*replayssm)(?:_?fused_(?:recurrent|sigmoid_gating|gdn|kda)_\w*(?:kernel|update)|fused_recurrent_{_FORMS})\w*"
         r"|^fused_(?:gdn|kda)_gating\w*|^_recurrent_gated_delta_rule_fwd_kernel(?:_persistent)?$"
         r"|^_linear_attn_decode_kernel$",
         note="one step after another, by elements", knows_better=True, words="_gating fused_ _recurrent_ "
               "_linear_attn_decode"),
    Rule("linear-attention-norm", NO, "normalisation", "fla", r"^l2norm_(?:fwd|bwd)_kernel\w*", knows_better=True,
         words="l2norm_"),
    Rule("linear-attention-small-inverse", UNKNOWN, "attention", "fla", r"^prepare_wy_repr_fwd_kernel_chunk32$",
         note="by elements in one variant, with tl.dot in another", words="prepare_wy_repr"),
    Rule("linear-attention-inverse", UNKNOWN, "attention", "fla",
         r"^(?:solve_tril_\w+|merge_\d+x\d+_to_\d+x\d+_inverse\w*)",
         note="products that may be asked for in IEEE precision", words="_inverse solve_tril_"),
    Rule("linear-attention-chunk", YES, "attention", "fla",
         rf"^chunk_{_FORMS}_(?:fwd|bwd)_(?:kernel_(?:h|dhu|o|dqkw?g?|dv\w*|dA|intra\w*)\w*|[hok]\w*_kernel\w*)"
         r"|^chunk_(?:fwd|bwd)_kernel_(?:o|h|dqkwg|dv|dh|dqkg|dv_local)$"
         r"|^chunk_(?:kda_)?scaled_dot_kkt_fwd_kernel(?!_intra_sub_intra)\w*"
         r"|^_?(?:recompute_w_u|prepare_wy_repr|fwd_recompute_w_u|fwd_prepare_wy_repr)_(?:fwd|bwd)?_?kernel\w*"
         rf"|^chunk_{_FORMS}_(?:fwd|bwd)_kernel\w*"
         r"|^_?parallel_(?:attn|nsa|wall_attn|path|based|rebased|deltaformer|parallax|simple_gla|delta_rule"
         r"|forgetting_attn)"
         r"(?:_compression)?_(?:fwd|bwd)_(?!\w*(?:preprocess|topk|row_sum))\w+$"
         r"|^fused_chunk_(?:\w+_)?(?:fwd|bwd)_kernel\w*|^chunkwise_(?:fwd|bwd)_kernel\w*"
         r"|^chunk_(?:gdn2|precond_kda|oja|ttt_linear|gated_delta_product)_(?:fwd"
         r"|bwd)_(?:kernel_)?(?!\w*(?:cumsum|gate|norm))\w+"
         r"|^(?:fused_solve_tril_)?recompute_w_u_\w*kernel$|^chunk_(?:fwd|bwd)_kernel_(?:d?h_(?:parallel|split)"
         r"|o_opt\w*|dqke)$"
         r"|^chunk_delta_attn_fwd_kernel_(?:inter_solve_fused|intra_sub_chunk)$|^wu_fwd_kernel$"
         r"|^chunk_(?:gla|rwkv6)_fwd_A_kernel_intra_sub_inter$|^chunk_transform_qk_(?:fwd|bwd)_kernel\w*$"
         r"|^parallel_nsa_kernel_topk$"
         r"|^intra_chunk_preprocess_(?:fwd|bwd)_kernel$|^chunk_(?:dplr_bwd_dgk|rwkv6_fwd_cumsum)_kernel$"
         r"|^chunk_(?:cumprod_householder|mesa_net_h_k[kv]|precond_kkt|scaled_dot_comba_pkt)_\w+kernel\w*$"
         r"|^chunk_scaled_dot_kkt_bwd_kernel_gk$|^chunk_generalized_iplr_delta_rule_fwd_kernel_[ho]$"
         r"|^prepare_wy_repr_bwd_kda_kernel$|^merge_fwd_bwd_kernel$"
         r"|^pre_process_(?:fwd|bwd)_kernel_merged$|^_chunk_cyfa_(?:bwd|fused)_\w+$|^chunk_(?:cp_\w+|o_fwd_kernel)$"
         r"|^chunk_(?:mesa_net_fwd_kernel_h|\w+_kernel_(?:dv|wy_gate_part)_npu|\w+_kkt_solve_tril_kernel)$",
         note="tl.dot on the model's 16-bit types",
         words="chunk chunkwise_ parallel_ prepare_wy_repr recompute_w_u wu_fwd merge intra_chunk"),
)  # fmt: skip
