"""Kernels whose names tell nothing, or the wrong thing, by word: single functions of projects whose sources were read.

Each was judged by its body: ``tl.dot``, ``mma``, ``wmma`` or a CUTLASS product makes a *yes*, none of them a *no*.
"""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

RULES: Final = (
    # Triton attention: tl.dot of 16-bit or narrower types, or of FP32 as TF32.
    Rule("triton-attention-dot", YES, "attention", "triton",
         r"^_attn_(?:fwd|bwd)(?:_(?!pre|post|reduce|merge|combine|inner)\w+)?$"
         r"|^_?bwd_kernel_(?:(?:split_)?(?:dkdv(?:dq)?|dq)_"
         r"|fused_(?:atomic_)?)?(?:non)?causal$"
         r"|^_fwd_kernel_(?:flash_decode_stage1_padding(?:_fp8)?|unified|alibi|batch_inference|fp8|int8kv"
         r"|no_prompt_cache|splitK|with_v|int8|dense_prefill)$"
         r"|^_(?:mla_(?:absorb|attn|decode_split|prefill(?:_mha)?|unfold)|dsa_(?:attn(?:_split)?"
         r"|indexer(?:_fewq)?))_kernel$"
         r"|^_paged_attn_(?:decode_split|longq_grouped|prefill|splitdv)_kernel$|^_(?:varlen_attn|gqa_pack_fwd)_kernel$"
         r"|^_flash_(?:kda_(?:prepare|seg_scan|segment)|packed|prefill_fwd)_kernel$|^parallel_wall_attn_decode_kernel$"
         r"|^_kernel_gqa_token_decode_attention_flash_decoding_vsm_stage1$|^_v4_indexer_score_fwd$"
         r"|^_(?:alibi_)?fwd_context_paged_attention_kernel(?:_v2)?$|^_sparse_attn_(?:v4_paged_prefill(?:_csa)?"
         r"|(?:ragged_)?triton)_kernel$|^_gqa_(?:share_)?sparse_(?:fwd|decode)_kernel$"
         r"|^_decode_sparse_attention_(?:bf16|fp8)_kernel$|^_decode_score(?:_attn)?_kernel$"
         r"|^_rel_mha_decode_grouped_stage1_kernel$|^_bf16_mla_sparse_kernel$|^_paged_decode_fused_kernel$"
         r"|^_sgl_m3_sparse_(?:fwd|decode)_kernel$|^_ffpa_(?:fwd|bwd(?:_d(?:q|kdv))?)_sm90_kernel_impl$"
         r"|^_attn_(?:dkdv|dq_dbias)_native_kernel$|^_pixel_attn_gqa_(?:fwd|bwd)$|^_prefill_block_score_kernel$"
         r"|^_flash_attn_fwd_with_block_score_kernel$|^(?:\w+_)?mla_(?:for|back)ward_kernel$"
         r"|^kernel_gqa_fwd_batch_decode_split_kv(?:_persistent)?$|^block_wise_(?:decode|prefill)_attention_kernel$"
         r"|^triton_(?:sparse|dense)_fwd_kernel$|^triton_(?:sparse_mla|flash_mla_sparse)_fwd(?:_tle)?$"
         r"|^_triton_attn_fwd$|^triton_bmm_pool_sim_\w+$|^_(?:gluon_attn|mla_gluon)$"
         r"|^_v4_attention_(?:fwd|bwd(?:_(?:dq|dkv(?:_pool(?:_mha)?)?))?)_kernel$"
         r"|^_v4_csa_attention_pool_sparse_(?:merge_)?(?:fwd|bwd)(?:_\w+)?_kernel$"
         r"|^_sparse_mla_(?:fwd|bwd)_(?:\w+_)?(?:gl|tr)(?:_v2)?_kernel$"
         r"|^_(?:fused_neighborhood_attention_(?:qk|grad_(?:k|qk|attn))|dense_neighborhood_grad_(?:attn|v"
         r"|qk_fused\w*))_kernel$",
         precision="@words", note="its products are tl.dot", knows_better=True,
         words="_attn_ _rel_mha paged_decode _sgl_m3 _ffpa_ block_score _attention_ _decode_score causal "
               "_fwd_kernel_ _mla_ _dsa_ _gqa_ _flash_ _indexer_ "
               "neighborhood _attention_ "
               "_sparse_attn triton_flash_mla mla_forward mla_backward gqa_fwd gqa_sparse triton_sparse triton_dense "
               "triton_bmm gluon"),
    Rule("triton-attention-beside", NO, "attention", "triton",
         r"^_(?:rel_mha|ffpa)_decode_(?:fwd_)?stage2_kernel$|^_(?:mla_(?:decode_combine|gather_tile|kv_quant_scatter"
         r"|kv_update|stage)"
         r"|dsa_attn_combine)_kernel$"
         r"|^(?:varlen_)?mla_(?:ds|rs)_kernel$"
         r"|^_kernel_gqa_token_decode_attention_flash_decoding_vsm_stage2$|(?:^|::)_?attn_?res_\w+$"
         r"|^_(?:fused_neighborhood_attention_(?:av|grad_v)|sparse_neighborhood_grad_\w+)_kernel$"
         r"|^_(?:sparse_attn_expand_to_dense|indexer_[kq]_(?:quant|dequant|fp8_fold|rope_fp8_fold)"
         r"|cp_gather_indexer_k|(?:flatten|prepare)_dsa_indexer_[kq](?:_cache)?)_kernel$"
         r"|^_?flash_decoding_(?:fwd_)?reduce_kernel$|^kernel_(?:int(?:er|ra)_rank_)?gqa_fwd_batch_decode_combine_kv$"
         r"|^_v4_csa_attention_(?:pool_)?(?:fwd|bwd|segreduce_sequential)_kernel$|^_hc_compute_tail_[fb]wd_kernel$"
         r"|^_kv_trans_(?:(?:decode|prefill)_node_)?kernel$|^concat_and_cast_mha_k_kernel$",
         note="by elements, or moves what attention reads", knows_better=True,
         words="mla_ stage2 _dsa_ _gqa_ attn_res attnres neighborhood sparse_attn indexer kv_trans mha_k "
               "_attention_ _hc_compute flash_decoding gqa_fwd"),
    Rule("attention-cuda", YES, "attention", "custom",
         r"(?:^|::)(?:kernel_mha_impl|sparse_mla_(?:prefill|decode)_(?!\w*(?:merge|combine|reduce))\w*kernel"
         r"|sparse_attn_fwd_for_small_topk_kernel"
         r"|(?:fwd|bwd)_attend_ker|based_linear_attention"
         r"|hedgehog_linear_attention_smd|kernel_flashkda_bf16_\w+|kernel_flashinfer_recurrent_kda_wy_vtile_short"
         r"|Sm(?:90|120)(?:FusedGdr(?:Fwd|H)|KktSolve)Kernel|_flash_kda_fwd_(?:prepare|recurrence)|(?:split_d"
         r"|persist_d(?:_ws)?)_fwd_cute_\w+)$", "@words or "
               "types",
         note="mma in FlashInfer's XQA and sparse MLA, FlashMLA, ThunderKittens and "
              "LMDeploy's gated delta rule", knows_better=True,
         words="mha_impl sparse_mla_ sparse_attn_ attend_ker linear_attention kda_ gdr kktsolve _fwd_cute_"),
    Rule("flashinfer-generated", YES, "attention", "flashinfer",
         r"^kernel_(?!\w*(?:reduc|combin|finaliz|prepar|scatter|stage_|norm|compat|quantize))(?:\w+_)?(?:msa_(?:decode"
         r"|nvfp4)|vsa_|xqa_|fmha_(?:decode_(?:balanced|native)|context|dcp|request)|sparse_mla_(?:decode|prefill)"
         r"|gdn_prefill|mamba_ssd_q|gqa_decode_|(?:dense|varlen)_attention|sparse_prefill)(?:\w*)$", "@words", r"^\w+$",
         note="FlashInfer's generated kernels: mma, wgmma or tcgen05", knows_better=True,
         words="msa_ vsa_ xqa_ fmha_ sparse_mla_ gdn_prefill mamba_ssd gqa_decode _attention sparse_prefill"),
    Rule("flashinfer-generated-gemm", YES, "gemm", "flashinfer",
         r"^kernel_(?!\w*(?:reduc|combin|finaliz|prepar|scatter|norm|router))(?:\w+_)?(?:bf16_bmm|bmm_tile|mega_(?:gate"
         r"|mhc)|(?:kgroup|grouped_fp\d|batched|mixed|fp8|svdquant|qkv|swiglu|proj|attention)_gemm|megamoe_fc\d"
         r"|fc1_swiglu|out_proj)(?:_\w+)?$", "@words", r"^\w+$",
         note="FlashInfer's generated kernels: mma, wgmma or tcgen05", knows_better=True,
         words="_bmm bmm_tile mega_ _gemm megamoe fc1_swiglu out_proj"),
    Rule("flashinfer-generated-other", UNKNOWN, "other", "flashinfer",
         r"^kernel_cake_(?:blackwell_msa|lm_head_loss|kda|grouped_fp8_fused_silu|gdn_cp)_\w+$", "@words",
         note="told apart by a digest: some multiply", words="kernel_cake_"),
    Rule("recurrent-attention-cuda", NO, "attention", "custom",
         r"(?:^|::)(?:kernel_(?:cake_fused_kda_decode|gdn_decode_(?:pre|non)transpose)_\w+|kda_decode_fusion_\w+"
         r"|kernel_flashinfer_(?:packed|recurrent)_kda_t1_\w+|kernel_kimi_k3_kda_t1_\w+"
         r"|gdn_(?:fused_)?decode_\w+"
         r"|gdr_decode_packed_\w+|fused_split_gdr_update_kernel|gdn_ba_gemv_kernel|RecurrentGdrKernel|ChunkedGdrKernel"
         r"|Sm\d+(?:GdrRecurrent|GdrTmaDescPrepare)Kernel|mamba2_(?:dt|fused)_op_kernel"
         r"|[gm]qa_attn_(?:splitk_(?:qk|v|attn)(?:_int4)?|fp8|int4)_kernel|mqa_attn_kernel|bwd_attend_prep_ker"
         r"|attn_reduce_kernel_\w+|pa_decode_ps_reduce_hip_kernel|calAttnScore_valueBuf\w*"
         r"|disentangled_attention_kernel"
         r"|lsh_(?:weighted_)?cumulation_ver\d_step\d_cuda_kernel|(?:causal_dot"
         r"|(?:clustered_)?sparse_dot)_\w+_kernel|lmha_(?:low_occupancy_)?kernel)$", "@words or types",
         note="one token at a time, or sums of parts: by elements", knows_better=True,
         words="kda_t1 kda_decode gdn_ gdr mamba2_ qa_attn_ attend_prep attn_reduce pa_decode calattnscore "
               "disentangled lsh_ "
               "causal_dot sparse_dot lmha_"),
    Rule("hpc-ops", YES, "attention", "hpc_ops",
         r"^(?:hpc::(?:\w+::)*)?(?:smallm_attention_decode|attention_(?:prefill"
         r"|with_kvcache))_(?!\w*combine)\w+_kernel$",
         "@words", note="mma and wgmma on bf16 or FP8 operands", words="attention_"),
    Rule("hpc-ops-gemm", YES, "gemm", "hpc_ops",
         r"^hpc::(?:\w+::)*(?:stem_oam_|group_)?gemm_(?:\w+_)?kernel$|^stem_oam_gemm_kernel$|^gemm_bf16xfp32_kernel$"
         r"|^group_gemm_(?:blockwise_)?fp8_(?:\w+_)?kernel$", "@words",
         note="mma and wgmma on bf16 or FP8 operands", words="hpc:: stem_oam_gemm gemm_bf16xfp32 group_gemm_"),
    Rule("primus-turbo", YES, "attention", "primus_turbo",
         r"^(?:primus_turbo::hipkittens::)?hk_attn_(?:fwd|bwd_(?:dq|dkdv|fused))_ker$", "bf16", note="MFMA",
         words="hk_attn_"),
    Rule("primus-turbo-beside", NO, "attention", "primus_turbo",
         r"^(?:primus_turbo::)?(?:(?:hipkittens::)?hk_attn_bwd_(?:prep|dkdvred|dqred)_ker"
         r"|grouped_gemm_variable_k_postprocess)$", "@types", note="sums and moves around the products",
         knows_better=True, words="hk_attn_ postprocess"),
    Rule("primus-turbo-gemm", YES, "gemm", "primus_turbo", r"^(?:primus_turbo::turbo::)?turbo_\w*gemm_\w+_kernel$",
         "@words", note="MFMA on FP8 or narrower operands", words="turbo_"),
    Rule("dlrm-interaction-fp32", NO, "gemm", "custom", r"(?:^|::)dotBasedInteractF32(?:Fwd|Bwd)Kernel\w*$", "fp32",
         note="NVIDIA's DLRM and HugeCTR: the dot products of embeddings, by elements", words="dotbasedinteract"),
    Rule("dlrm-interaction-tf32", YES, "gemm", "custom", r"(?:^|::)dotBasedInteractTF32(?:Fwd|Bwd)Kernel\w*$", "tf32",
         note="NVIDIA's DLRM: wmma", words="dotbasedinteract"),
    Rule("dlrm-interaction", YES, "gemm", "custom", r"(?:^|::)(?:dotBasedInteract(?:Fwd|Bwd)Kernel\w*|dlrmDot(?:Fwd"
         r"|Bwd))$", "fp16",
         note="NVIDIA's DLRM and HugeCTR: the dot products of embeddings as a product, by wmma",
         words="dotbasedinteract dlrmdot"),
    Rule("hadacore", YES, "gemm", "custom", r"(?:^|::)hadacore::hadamard_transform_kernel$", "@types",
         note="a product with a Hadamard matrix, by mma.m16n8k16", words="hadacore::"),
    Rule("cutile-attention", YES, "attention", "cutile",
         r"^_fna_(?:fused_forward|bwd_d(?:q|kdv))_kernel$|^_fmha_(?:fwd_kernel_with_lse|bwd_d(?:q|kdv)_kernel)$"
         r"|^_prefill_attention_(?:paged|ragged)_(?:lpt_)?kernel$|^_decode_(?:attention|mla)_kv_paged_kernel$"
         r"|^_(?:gemma_)?attention_decode_kernel_grouped$|^_attention_sink_(?:decode_)?kernel$|^_gemma_fmha_kernel$"
         r"|^_(?:sparse_mla_fwd|prefill_mla|naive_absorb_mla_transpose)_kernel$",
         note="TileGym: ct.mma on 16-bit or FP8 operands", knows_better=True, words="_fna_ fmha_ attention_ _mla"),
    Rule("cutile-product", YES, "gemm", "cutile",
         r"^_(?:static_persistent_bmm|masked_bmm|(?:ragged_(?:block_scaled_)?bmm)(?:_swap_ab)?|group_gemm)_kernel$"
         r"|^conv(?:[23]d|_transpose_[23]d)_implicit_gemm_kernel$"
         r"|^_?(?:w8a8_block_fp8_matmul_kernel|grouped_gemm_(?:fwd|dX|dW)_kernel)_ct$|^_bmm_bf16_kernel_cutile$"
         r"|^_gemm_alpha_beta_kernel(?:_cutile)?$", "@words",
         note="TileGym: ct.mma, on FP32 operands as TF32", knows_better=True,
         words="_bmm implicit_gemm_kernel group_gemm grouped_gemm fp8_matmul _gemm_alpha"),
    # State spaces and linear attention in Triton.
    Rule("lightning-attention", YES, "attention", "triton",
         r"^_fwd_(?:(?:none_)?diag_kernel|kv_parallel)$|^_bwd_(?:intra|inter)_kernel$"
         r"|^(?:\w+_)?lightning_attention_(?:(?:q|kv)_)?(?:forward|backward)_kernel$",
         note="MiniMax's linear attention: tl.dot within and between blocks", knows_better=True,
         words="diag_kernel kv_parallel _bwd_int lightning_attention"),
    Rule("recommender-product", YES, "gemm", "triton",
         r"^_addmm_(?:optional_silu_)?fwd(?:_tma\w*)?$|^jagged_dense_bmm_broadcast_add_kernel$"
         r"|^_jagged_jagged_bmm_reduce_sum$|^_swiglu_fwd_tma_\w+$",
         note="Meta's generative recommenders: tl.dot", knows_better=True, words="_addmm_ _bmm_ _swiglu_"),
    Rule("triton-swiglu", UNKNOWN, "gemm", "triton", r"^_swiglu_fwd_kernel$|^_fused_gate_up_swiglu_kernel$",
         note="the activation alone in Mamba, a perceptron's products in others", words="swiglu"),
    Rule("state-space-dot", YES, "attention", "triton",
         r"^mamba3_siso_(?:fwd_kernel|step_kernel|bwd_kernel_dqkv)$|^_chunk_state_varlen_kernel$"
         r"|^seg_la_(?:[ps]_)?kernel$|^_fused_cumsum_kkt_kernel$|^chunk_kkt_inv_ut_fused_kernel$"
         r"|^(?:_atk_backward|_forward)_chunk_out$|^chunk_(?:ttt_linear_bwd_kernel_norm|fwd_mesa_cg_dim64_kernel)$"
         r"|^(?:parallel_deltaformer_bwd_kernel_row_sum|prepare_precond_wy_repr_bwd_kernel|transform_q_fwd_kernel)$"
         r"|^parallax_decode_kernel$|^simplicial_bwd_kv(?:1|2q)_kernel$",
         note="its products are tl.dot", knows_better=True,
         words="mamba3_ seg_la varlen _kkt_ chunk_ deltaformer wy_repr transform_q parallax simplicial"),
    Rule("state-space-beside", NO, "other", "triton",
         r"^mamba3_siso_bwd_kernel_(?!dqkv)\w+$|^_atk_backward_(?:chunk_summary|pass_chunks)$"
         r"|^_forward_(?:chunk_summary|pass_chunks)$|^(?:gdn|kda)_gate_(?:fwd|bwd|chunk_cumsum)\w*kernel_npu$"
         r"|^(?:mesa_net_decoding|parallax_decode)_one_step_kernel$|^(?:sqrelu|powglu|sigmoidglu)_(?:fwd|bwd"
         r"|fwdbwd)_kernel$"
         r"|^rwkv_(?:ka_fusion|seq_mix|mm_sparsity)_kernel$|^simplicial_bwd_pre_kernel$|^save_intra_chunk_attn$"
         r"|^seg_la_(?:d|mtp|sum)_kernel$|^store_ssm_state_to_block_map_kernel$|^bwd_(?:dtrap_ddt"
         r"|segsum_dadt)_kernel(?:_varlen)?$|^grpo_(?:fwd"
         r"|bwd)_kernel$",
         note="gates, sums and steps by elements", knows_better=True,
         words="mamba3_ chunk pass_chunks _gate_ one_step sqrelu powglu sigmoidglu rwkv simplicial ssm_state "
               "dtrap segsum seg_la grpo"),
    # Products.
    Rule("narrow-product-triton", YES, "gemm", "triton",
         r"^matmul_kernel_fp8_(?:bf|fp)16$|^_fp8_gemm_nt_(?:persistent|warp_specialized|single_partition)_kernel$"
         r"|^_gemm_fp8(?:_tma)?_kernel$"
         r"|^bmm_scaled_fp8_kernel$|^blockwise_fp8_gemm_kernel$|^w8a8_block_dynamic_fp8_moe_grouped_\w+_kernel$"
         r"|^mxfp_dynamic_(?:moe|matmul)_?\w*_kernel$|^w8a8_(?:block|tensor)_(?:dynamic|static)_fp8_(?:matmul"
         r"|moe)_?\w*kernel$",
         "@words", note="tl.dot of FP8 or narrower operands, which no other unit multiplies", knows_better=True,
         words="fp8 mxfp"),
    Rule("product-triton", YES, "gemm", "triton",
         r"^kernel_(?:fused_ag_gemm|consumer_gemm_triton|gemm_rs_producer_fuse_scatter|all_to_all_gemm_consumer"
         r"|persistent_tma_gemm_notify|consumer_m_parallel_scatter_group_gemm)$"
         r"|^(?:transposed_)?moe_(?:gather_[ra][sr]_)?"
         r"grouped_(?:two_weights_split_[NK]_)?gemm_kernel(?:_nk_const\w*)?$|^flat_group_gemm_(?:fuse_reshape_)?kernel$"
         r"|^streamk_(?:amd|cuda)_gemm$|^_mx_dot_scaled_kernel$|^(?:grouped_)?(?:mxfp8|nvfp4)_(?:gemm|wgrad)_kernel$"
         r"|^_scaled_int8_mm_kernel$|^(?:fused_sigmoid)?_gated_(?:dual_)?gemm_(?:(?:with_residual|forward|backward|mxfp8|pregemm)_)*kernel$"
         r"|^(?:[ab]_fused_)?[mk]_grouped_bf16_gemm_contiguous_tl_impl$|^_xformers_tiled_matmul_kernel$"
         r"|^wait_signal_matmul_triton_kernel$|^(?:add|b)?mm_sqmma_kernel$|^fused_ln_dual_matmul_kernel$"
         r"|^(?:paroquant_gemm|awq_linear)_kernel$|^_mhc_mm_norm_(?:fwd|bwd)(?:_fused)?_kernel(?:_npu)?$"
         r"|^_scatter2scatter$|^_groupXtY$|^_fused_(?:down_proj|up_proj_swiglu)_kernel$"
         r"|^_ff_a16w16_fused_(?:un)?gated$|^_pipelined_moe_kernel_scaled(?:_block_schedule)?$"
         r"|^_moe_bwd_(?:dW[12]|dX_expanded|down_proj)_kernel$|^_conv2d_(?:1x1|3x3_(?:cblocked|nhwc)|general)_kernel$"
         r"|^_winograd_f4x3_batched_gemm_kernel$|^(?:split_)?fp32_gemm_(?:for_\w+_)?kernel$|^_fused_lora_kernel$"
         r"|^(?:tlx|triton)_ikbo_lce_kernel$|^_packed_input_projections_kernel$|^group_gemm_same_(?:nk|mn)_kernel$"
         r"|^efficient_entropy_(?:backward_)?kernel_general_(?:d_logits(?:_split_N)?|mainloop(?:_MN)?)$", "@words",
         note="its products are tl.dot", knows_better=True,
         words="kernel_fused_ag kernel_consumer kernel_gemm_rs kernel_all_to_all kernel_persistent_tma grouped_ "
               "flat_group streamk_ _dot_scaled mxfp8 nvfp4 "
               "_int8_mm _gated_ bf16_gemm xformers wait_signal sqmma dual_matmul paroquant awq_linear mhc_mm "
               "scatter2scatter groupxty down_proj up_proj_swiglu _ff_a16w16 _moe_bwd_ _conv2d_ _winograd_ fp32_gemm "
               "_fused_lora _pipelined_moe ikbo_lce _projections group_gemm_same efficient_entropy"),
    Rule("product-cuda", YES, "gemm", "custom",
         r"(?:^|::)(?:cuda_lookupmatmul_\w+_kernel|decode_matvec_e8p_kernel|qgemm_device"
         r"|(?<!tcnn::)kernel_mlp_fused(?:_backward)?"
         r"|paged_attention_ll4mi_QKV_kernel|hk_(?:bf16|fp8)_(?:atb_)?gemm|QUANT_GEMM_Kernel"
         r"|cooperative_\w+_fp8_gemm_kernel|swordfish_decode_(?:moe_|streamk_)?kernel|TgvGemmCuteExtKernel\w*"
         r"|exl3_gemv_kernel|sgmv_shrink|compute_(?:tf32|bf16)gemm(?:_async_copy)?|tgv_gemm_device"
         r"|opus_moe_stage\d_gemmstyle_kernel\w*"
         r"|dispatch_group_gemm_kernel"
         r"|gemm_kernel_sm90(?:_bf16)?|moe_kernel_topk|exl3_moe_kernel)$"
         r"|^bitblas_kernel_\w*?_m(?!1n)\d+n\d+k\d+\w*$", "@words or types",
         note="mma or CUTLASS", knows_better=True,
         words="lookupmatmul e8p qgemm_device mlp_fused ll4mi_qkv hk_ "
               "quant_gemm _fp8_gemm_ swordfish exl3_gemv sgmv_shrink tgv opus_moe dispatch_group_gemm "
               "gemm_kernel_sm bitblas_kernel moe_kernel_topk exl3_moe "
               "compute_tf32 compute_bf16"),
    Rule("flash-fft-conv", YES, "convolution", "flash_fft_conv",
         r"^butterfly_(?:padded_)?(?:ifft_)?(?:padded_)?(?:bf16_)?cuda_kernel_(?:16|32|64|128)$"
         r"|^monarch_conv_(?:bwd_)?cuda_\w*kernel\w*$",
         "@words or types", note="Fourier transforms as products with small matrices, by wmma", knows_better=True,
         words="butterfly_ monarch_conv_"),
    Rule("torchsparse", YES, "convolution", "torchsparse",
         r"^fetch_on_demand_gemm_(?:no_fusion_)?(?:tf32|fp16(?:_tc4(?:_async)?)?)$", "@words",
         note="wmma", knows_better=True, words="fetch_on_demand_gemm_"),
    Rule("torchsparse-vector", NO, "convolution", "torchsparse",
         r"^fetch_on_demand_gemm_\w+$", "@words", note="by elements: FP32, or halves of a few channels",
         words="fetch_on_demand_gemm_"),
    Rule("mamba-checkpointing", YES, "attention", "flashinfer",
         r"(?:^|::)checkpointing_ssu_(?:precompute_|main_)?kernel(?:_8bit)?$", "@types",
         note="its products of a chunk are mma.m16n8k16", knows_better=True, words="checkpointing_ssu_"),
    Rule("product-by-elements", NO, "gemm", "custom",
         r"(?:^|::)(?:exl3_gemv_int8_\w+|h_gemm_(?:tall|wide)_kernel|matrix_diagonal_kernel|MatrixColReduceBy\w+"
         r"|routing_gemv_kernel|gemm_4bit_simt|reference_\w*gemm_kernel"
         r"|int8WeightPerChannelLdkMultiplication|dense_vec_jagged_2d_(?:transposed_)?bmm|mm_to_sparse_cuda_kernel"
         r"|sparse_dense_mm_cuda_kernel|(?:triton_batched_)?dense_vec_jagged_2d_matmul|addmv_kernel"
         r"|MatrixMul(?:AsyncCopy|Naive|CUDA)\w*|matrixMul(?:CUDA_block|_bs)\d+\w*)$"
         r"|^bitblas_kernel_\w*?_m1n\d+k\d+\w*$", "@words or types",
         note="dp4a, fused multiply-add, or one row", knows_better=True,
         words="exl3_gemv h_gemm_ matrix_diagonal matrixcolreduce routing_gemv gemm_4bit_simt "
               "reference_ ldkmultiplication dense_vec_jagged mm_to_sparse dense_mm addmv_ matrixmul "
               "bitblas_kernel"),
    # Around products and experts.
    Rule("expert-routing", NO, "sort", "custom",
         r"^kernel_cake_deepseek_routing_\w+$|(?:^|::)fused_(?:score_for_moe_aux_loss|topk_with_score_function)_\w+$"
         r"|(?:^|::)(?:routing_ds3_nogroup_kernel|moe_hash_topk_fused|MoeGate\w*Kernel\w*|moe_alig_block_size_kernel"
         r"|compute_total_rows_before_expert_kernel|compute_batched_moe_data|fakeBalanceExpertKernel"
         r"|sparseMixerMask|genSourceRowKernel"
         r"|topKPerRowPrefill|moeA2ASanitizeExpertIdsKernel|prepareFakeRouterBuffers|precompute_sgmv_args)$"
         r"|^_(?:fused_noaux_tc|single_group_topk_router|pack_router|expert_id_counter)_kernel$"
         r"|^_mega_moe_gate_pack_\w+kernel$|^_pack_mega_moe_inputs_\w*kernel$",
         note="which token goes to which expert", knows_better=True,
         words="routing_ fused_score fused_topk topk moegate moe_alig moe_data rows_before expert mixermask sourcerow "
               "fakerouter sgmv_args noaux router mega_moe"),
    Rule("expert-helper", NO, "elementwise", "custom",
         r"(?:^|::)(?:moe_(?:bias_add(?:_weighted)?|flag_(?:wait|write))_kernel|applySharedExpertSigmoid"
         r"|moeActivationKernel"
         r"|moe_smooth_per_token_scaled_quant_kernel\w*|prepare_moe_tma_descs\w*|moe_res_matmul|kdequant_mm_int32_fp16"
         r"|dequantize_gemm_output_kernel|loraAddBiasKernel|loraReorderKernel|swordfish_(?:dequant_dense|prep"
         r"|zero_c)_kernel"
         r"|retile_marlin_to_blocks|sparse24_(?:apply|sparsify)\w*|sparseNM_dense_kernel)$|^_silu_and_mul_moe_ep_kernel$"
         r"|^_(?:binned|padded)_copy_wgrad$",
         "@words or types", note="by elements, beside a product", knows_better=True,
         words="moe_ sharedexpert moeactivation kdequant dequantize_gemm lora swordfish retile_marlin "
               "sparse24_ sparsenm_dense copy_wgrad"),
    Rule("hyper-connections-product", YES, "gemm", "triton",
         r"^_mhc_(?:post_pre_split|fused(?:_split)?)_kernel$|^_mhc_projection_(?:fwd_fused|bwd_fused_d(?:x|phi))$"
         r"|^_mhc_(?:aggregate|expand_combine)_bwd$", "@words",
         note="mixes residual streams and projects them by tl.dot", knows_better=True, words="_mhc_"),
    Rule("hyper-connections", NO, "other", "custom",
         r"(?:^|::)_?mhc_(?:post|post_res|pre|pre_big_fuse|coeffs|sinkhorn|split_sinkhorn|bwd|scale|reduce_apply"
         r"|post_pre_reduce_apply)_(?!gemm)\w+$|^_mhc_(?:aggregate|expand_combine)_fwd$"
         r"|(?:^|::)_?hc_(?:apply|mix_finalize|mix_partials|pre_reduce|post_expand)_kernel$"
         r"|^dsv4_hc_\w+_f32$|^(?!\w*(?:mm_|gemm|proj))_?(?:\w+_)?[im]?hc_(?:pre(?!_mix)|post|head|combine"
         r"|broadcast|split"
         r"|sinkhorn|stream_mean|silu|gate|mix_(?:\w+_)?reduce)(?:_\w+)?$", "@words or types",
         note="mixes residual streams by elements; their products have kernels of their own", knows_better=True,
         words="mhc_ hc_"),
    Rule("sparse-by-elements", NO, "gemm", "@namespace",
         r"(?:^|::)(?:CSRSparseMatrixBatchMulVec\w+|TridiagonalMatMulKernel|SparseTensorDenseMatMulKernel"
         r"|GatherMMScatterKernel2?|GESpMMKernel|SDDMM(?:Coo|Csr)\w*Kernel"
         r"|(?:Arg)?SpMM\w*(?:Coo"
         r"|Csr)\w*Kernel)$",
         "@types", note="DGL's and TensorFlow's sums over sparse matrices, by elements", knows_better=True,
         words="batchmulvec tridiagonalmatmul sparsetensordense gathermmscatter gespmm sddmm spmm"),
    Rule("torch-sparse", NO, "gemm", "custom", r"^spmm_(?:value_bw_)?kernel$", "@types", r"ReductionType",
         note="pytorch_sparse: a warp sums the rows that an edge names", words="spmm"),
    Rule("tvm-elementwise", NO, "elementwise", "custom",
         r"^fused_(?:(?:split|silu|gelu|sigmoid|multiply|divide|add|subtract|cast|reshape|transpose|take|strided_slice)"
         r"\d*_)+kernel$|^batch_decode_paged_kv(?:_kernel)?$", "@types", knows_better=True,
         note="TVM names a kernel after its operations; MLC's decoding has one query per key", words="fused_ "
               "batch_decode"),
    Rule("drawing", NO, "other", "@namespace",
         r"(?:^|::)(?:projection_(?:(?:2dgs|ewa|ut)_\w+|fwd_kernel)|se3pose_\w+_kernel|quat_to_matrix_\w+_kernel"
         r"|(?:kernel_(?:grid|sh|freq|input)(?:_backward|_wrapper)?|grid_kernel)"
         r"|inverse_project_spinning_lidar_\w*kernel|assemble_proj_features_kernel)$", "@types",
         note="places and poses of Gaussians in gsplat, encodings of torch-ngp, voxels of points", knows_better=True,
         words="projection_ se3pose_ quat_to_matrix inverse_project assemble_proj kernel_grid kernel_sh kernel_freq "
               "kernel_input grid_kernel"),
    Rule("vision-by-elements", NO, "other", "@namespace",
         r"(?:^|::)(?:(?:ball_query|group_points|correlation|carafe_naive)_(?:for|back)ward_cuda_kernel\w*"
         r"|assign_score_withk_\w+_cuda_kernel|convex_g?iou_cuda_kernel|points_in_polygons_forward_cuda_kernel"
         r"|psamask_\w+_cuda|group_points_(?:grad_)?kernel_\w+|CARAFE(?:For|Back)ward\w*|filtered_lrelu_kernel"
         r"|upfirdn2d_kernel_(?:large|small))$"
         r"|(?:^|::)(?i:upsample_?(?:bi|tri)?linear)(?!\w*_dot)\w*$", "@types",
         note="samples and neighbours; the linear one is interpolation", knows_better=True,
         words="ball_query group_points correlation carafe assign_score convex_ points_in_polygons psamask "
               "filtered_lrelu upfirdn2d upsample"),
    Rule("beside-product", NO, "elementwise", "custom",
         r"(?:^|::)scale_(?:1|128)x128(?:_reshape)?_kernel$|(?:^|::)qkv_tma_setup_(?:decode|prefill)$"
         r"|^_?(?:gluon_)?deepgemm_fp8_paged_mqa_logits_\w*schedule$|^_scatter_intermediate_conv_kernel$"
         r"|(?:^|::)fused_rope_thd_linear_grid_\w+_kernel$|(?:^|::)fmha_bwd_dot_do_o_kernel$",
         "@words", note="scales, plans and rows beside a product", knows_better=True,
         words="_1x128 _128x128 tma_setup schedule scatter_intermediate fused_rope dot_do_o"),
    Rule("split-alone", UNKNOWN, "other", "custom",
         r"^_?split_kernel$|(?:^|::)split\w*_[fb]wd(?:_|$)|[fb]wd_split(?:_|$)|^_gather_[fb]wd_kernel$",
         note="splits or gathers a tensor, or is attention whose keys are split or gathered", words="split _gather_"),
    Rule("newton-schulz", YES, "gemm", "triton", r"^(?:ns_line_\d|XXT|XTX|ba_plus_cAA)_kernel$",
         note="Muon's steps: tl.dot of a matrix with itself", knows_better=True, words="ns_line_ xxt xtx ba_plus_caa"),
    Rule("cutlass-reference", NO, "gemm", "cutlass", r"\bcutlass::reference::|^Conv[23]d(?:Fprop|Dgrad|Wgrad)$"
         r"|^(?:Batched)?Gemm(?:Planar)?(?:Complex)?$"
         r"|^TensorScaleBias\w+$|^TensorInitialize\w+$|^BlockForEach$|^Reference[A-Z]\w+_kernel$", "@types",
         note="slow kernels that others are checked with, by elements", knows_better=True,
         words="cutlass::reference:: conv2d conv3d gemm tensorscalebias tensorinitialize blockforeach reference"),
    # Moving, converting, drawing.
    Rule("moved-by-name", NO, "copy", "custom",
         r"^_?(?i:float|fused(?:8|n)bitrowwise|(?:padded)?fp8rowwise)_to_\w*(?:rowwise|float)\w*cuda_kernel$"
         r"|^_?to_(?:mx|nv)?fp[48]_\w+$|^_get_FP8_qparam_cuda_kernel$|^_(?:qonly_)?(?:qkv|attn)_(?:pre"
         r"|post)_(?:fp8_)?kernel$"
         r"|^_fused_qkvzba_prefill_kernel_nqk\d+$|(?:^|::)(?:embedDecoderInput|maskDecoderOutput|tileEncoderResults"
         r"|tileGptPromptInputs|multiplyScale|rowMajorToCOL32_kernel|quatizeVectorE4M3|inplace_bf16_to_fp16_kernel"
         r"|extend_u16_u8|BlockscaleToGroupscale_Kernel|prepareQKVKernel|processQKV|ProcessKV(?:_v2)?"
         r"|concat_mla_k_kernel"
         r"|transform_20314_bwd_new|paged_kv_update_\w*kernel|cache_rotate_kernel|conv1d_split_qkv\w*"
         r"|(?:cp_gather_)?indexer_k_quant(?:_and)?_cache_kernel|inverse_rope_group_quant_kernel"
         r"|(?:GraphSafe)?MultiAmaxMemcpyD2DKernelPreRHT|nope_qkv_varseq_prefill_kernel)$"
         r"|^(?:hadamard_(?:rope_|v_)?)?(?:single|kv|qkv?|v)_phase[12]_kernel$|^hadamard_v_phase1_kernel$"
         r"|^(?:kv|qkv)_reduce_kernel$|^triton_(?:dense_to_jagged|jagged_to_dense\w*|quantize_2d_weight)$",
         "@words or types",
         note="moves or converts", knows_better=True,
         words="rowwise to_fp to_mx to_nv _qparam_ _qkv_ _attn_ qkvzba embeddecoder maskdecoder tile multiplyscale "
               "rowmajorto quatize "
               "bf16_to extend_u16 groupscale processkv qkv concat_mla transform_20314 paged_kv cache_rotate "
               "conv1d_split indexer_k inverse_rope multiamax phase kv_reduce jagged quantize_2d"),
    Rule("collective-by-name", NO, "collective", "custom",
         r"(?:^|::)(?:a[gr]_(?:ll_)?gfx\d+\w*|moeAllToAllKernel|ulysses_a2a_kernel|bump_tag_kernel"
         r"|engram_fetch_impl)$",
         note="between GPUs", knows_better=True, words="_gfx alltoall a2a bump_tag engram"),
    Rule("activation-by-name", NO, "elementwise", "custom",
         r"(?:^|::)(?:SigmoidGateMultiplyKernel|xielu_kernel_f|add_sigmoid_proj_kernel_f|kernel_silu_elewise_product"
         r"|operator_(?:element|tn_big_tile)_kernel|_fg_kernel|_DWf_DW_dfg_kernel|kn_entry_\dc_(?:sbhd|thd)_\w+"
         r"|generate_alibi_slopes"
         r"|FixLogitsAnomaly"
         r"|transducer_joint_(?:tiled_)?forward)$|^_(?:exact|approx)_(?:forward|backward)_kernel$"
         r"|^(?:add|any|addr|full|kron|polar|vstack)_kernel(?:_kernel|_dim|_\d)?$", "@words or types",
         note="by elements", knows_better=True,
         words="sigmoid xielu elewise operator_ _fg_kernel _dfg_kernel kn_entry_ alibi fixlogits transducer _exact_ "
               "_approx_ add_kernel any_kernel addr_kernel full_kernel kron_kernel polar_kernel vstack_kernel"),
    Rule("normalisation-by-name", NO, "normalisation", "custom",
         r"(?:^|::)(?:gn_(?:bwd_)?cuda_kernel|rstd_kernel|cmvn|_dyt_(?:fwd|bwd)_kernel|_gemma_rms_layernorm_\w+)$",
         note="norms", knows_better=True, words="gn_ rstd cmvn dyt _gemma_rms"),
    Rule("reduction-by-name", NO, "reduction", "custom",
         r"(?:^|::)(?:crossentropy_(?:forward|backward)_kernel\d|ker_ppl\w*|auc_kernel|d_cmax_kernel|dot_kernel_\d"
         r"|fused_dot_scale_axpy|scan_part_\w+_abc_(?:loop_)?kernel|add_base_\w+_abc_kernel"
         r"|_target_logprob_partial_kernel|_chunked_cross_entropy_(?:for|back)ward)$",
         note="sums", knows_better=True, words="crossentropy cross_entropy ker_ppl auc_ cmax dot_ _abc_ logprob"),
    Rule("convolution-by-elements", NO, "convolution", "custom",
         r"(?:^|::)(?:conv_transpose_1d_kernel|reciprocalConvolution|fused_conv1d_batched_kernel\w*"
         r"|conv1d_update_kernel"
         r"|batched_conv_rewind_kernel)$",
         "@types", note="along one dimension, or of Fourier coefficients: by elements", knows_better=True,
         words="conv"),
    Rule("cupy-distance", NO, "other", "cupy",
         r"^kernel(?:Flood[UDZ]\w*|PropagateInterband|ProximatePoints\w*|DoubleToSingleList)$|^execute_dist$",
         note="distance transforms", knows_better=True, words="kernelflood kernelpropagate kernelprox doubletosingle "
         "execute_dist"),
    Rule("table-by-name", NO, "other", "custom",
         r"(?:^|::)(?:process_item_zch|retrieve_pruned_and_inserted_rows|zipf_kernel|ker_refresh_result"
         r"|mhaPagedAttnPlanKernel|prepareFlashInferDecodeParamsKernel|build_decode_schedule_gpu_kernel|larfg_kernel"
         r"|small_sytd2_kernel|mix_sample_(?:outer_exponential_)?kernel|final_(?:counting|labeling))$",
         note="tables, plans and draws", knows_better=True,
         words="zch pruned zipf refresh attnplan decodeparams decode_schedule larfg sytd2 mix_sample final_"),
)  # fmt: skip
