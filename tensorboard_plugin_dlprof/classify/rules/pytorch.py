"""PyTorch's own kernels, CUB, Thrust, Apex, Transformer Engine. None multiplies matrices, except as listed."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, YES, Rule

_IN_FUNCTOR = r"^(?:[^()]|\((?:int|bool|unsigned int|unsigned long|long)\))*?"
"""What stands before the functor's own parameters; lambdas behind them quote other types and functions."""

_ELEMENTWISE = r"elementwise_kernel|\bloop_kernel\w*"

RULES: Final = (
    # Optimizers. A multi-tensor (foreach) kernel serves the optimizer, gradient scaling or clipping.
    Rule("optimizer", NO, "optimizer", "@namespace",
         r"multi_tensor_apply_kernel|(?i:fused_?(?:adam|sgd|lamb|adagrad|lion))|amp_update_scale|amp_non_finite",
         "@types", words="amp_non_finite amp_update_scale fused multi_tensor_apply_kernel"),
    Rule("optimizer-name", NO, "optimizer", "custom",
         r"(?i)(?:adam|lamb|adagrad|rmsprop|adadelta)w?_?(?:kernel|update|step|cuda|functor)?\b|_optimizer_kernel",
         "@types", words="_optimizer_kernel adadelta adagrad adam lamb rmsprop"),
    Rule("triton-rope", NO, "elementwise", "triton",
         r"^_rope_embedding(?:_QK)?$|^_rope_kernel_\w+"
         r"|^fused_rope_(?:thd_)?(?:linear_grid_)?(?:forward|backward)_kernel$",
         note="turns queries and keys before their product", knows_better=True, words="_rope_ fused_rope"),
    Rule("rotary", NO, "elementwise", "@namespace",
         r"(?i:rotary|\brope_?)\w*|fused_rope\w*", "@types",
         note="rotary embedding of positions, not a table look-up", words="rope rotary"),
    # PyTorch, most telling part first.
    Rule("pytorch-dropout", NO, "random", "@namespace",
         r"\bat::native::\w*(?:dropout|distribution_|philox|bernoulli|randperm|multinomial|random|uniform"
         r"|normal_and|exponential)\w*|\bat::cuda::\w*philox\w*", "@types",
         words="at::cuda:: bernoulli distribution_ dropout exponential multinomial normal_and philox random "
               "randperm uniform"),
    Rule("pytorch-softmax", NO, "softmax", "@namespace",
         r"(?i:softmax|LogSoftMax)\w*(?:warp|forward|backward|kernel)?|\bcunn_S\w*[Ss]oft[Mm]ax\w*", "@types",
         words="cunn_s softmax"),
    Rule("pytorch-normalisation", NO, "normalisation", "@namespace",
         r"(?i:layer_?norm|batch_?norm|group_?norm|instance_?norm|rms_?norm)|RowwiseMoments|ComputeFusedParams"
         r"|GammaBetaBackward|ComputeInternalGradients|ComputeGradient\w*CUDAKernel|\bcu(?:Apply"
         r"|Compute)\w*(?:Norm|Grad\w*)|weight_norm|\bln_(?:fwd|bwd)\w*|WelfordNorm|welford\w*|\bGammaBeta\w*"
         r"|ComputeBackwardFusedParams", "@types",
         words="apply batch compute gammabeta group instance layer ln_ norm rowwisemoments welford"),
    Rule("pytorch-normalisation-elementwise", NO, "normalisation", "@namespace",
         _ELEMENTWISE, "@types",
         _IN_FUNCTOR + r"(?:batch_norm|group_norm|GroupNorm|LayerNorm)\w*", words="elementwise_kernel loop_kernel"),
    Rule("fbgemm-embedding", NO, "embedding", "fbgemm",
         r"^(?:\w+::)?(?:(?:int_nbit_)?split|dense|ssd)_embedding\w*|^(?:\w+::)?(?:linearize(?:_cache)?_ind\w+"
         r"|bounds_check_indices\w*|l[rf]u_cache_\w+)", "@types",
         note="look-ups in embedding tables and their fused optimizers; dense is their gradient", knows_better=True,
         words="_embedding bounds_check_indices linearize u_cache_"),
    Rule("fbgemm-jagged", NO, "elementwise", "fbgemm",
         r"(?:^|::)_?(?:triton_)?(?:jagged2?|padded|dense)_\w*(?:elementwise|to_padded|to_dense|to_jagged2?"
         r"|cat_jagged)\w*"
         r"|^ssd_(?:cache|generate|update)_\w+|^to_dense_\w+|^triton_dense_to_jagged$", "@types",
         note="rows of different lengths, moved or changed by elements", knows_better=True,
         words="jagged padded dense ssd_"),
    Rule("fbgemm-jagged-product", NO, "gemm", "fbgemm",
         r"^fbgemm_gpu::(?:\w+::)*(?:dense_vec_jagged|jagged_jagged|jagged_dense)\w*bmm\w*", "@types",
         note="rows of different lengths, by elements", words="fbgemm_gpu::"),
    Rule("fbgemm-copy", NO, "copy", "fbgemm",
         r"^(?:permute_pooled_embs|recat_(?:copy|embedding)\w*|(?:\w+::)*to_dense_representation)\w*", "@types",
         knows_better=True, words="permute_pooled_embs recat_ to_dense_representation"),
    Rule("triton-kernels-finalise", NO, "embedding", "@namespace",
         r"^_finalize_matmul_scatter\w*", "@types", note="rows of a product to their places", knows_better=True,
         words="_finalize_matmul_scatter"),
    Rule("pytorch-embedding", NO, "embedding", "@namespace",
         r"(?i:embedding|indexSelect|index_select|index_elementwise|indexing_backward|index_put|index_add"
         r"|index_copy|indexFunc|gather|scatter|\btake_|\bput_)(?!TopK)(?<!_all)|compute_grad_weight"
         r"|krn_partial\w*|sum_and_scatter|compute_num_of_partial|EmbeddingBag\w*|write_num_of_segments", "@types",
         words="compute_grad_weight compute_num_of_partial embedding gather index_add index_copy index_elementwise "
               "index_put index_select indexfunc indexing_backward indexselect krn_partial put_ scatter take_ "
               "write_num_of_segments"),
    Rule("pytorch-embedding-elementwise", NO, "embedding", "@namespace",
         _ELEMENTWISE, "@types",
         _IN_FUNCTOR + r"(?:index_kernel_impl|index_put_kernel|scatter_gather|gpu_index_kernel|index_copy_kernel)",
         words="elementwise_kernel loop_kernel"),
    Rule("pytorch-sort", NO, "sort", "@namespace",
         r"(?i:radix_?sort|bitonic|merge_?sort|segmented_?sort|topk|TopK|radixFindKth|kthvalue|gatherKth"
         r"|gatherMedian|mode_kernel|\bsort_\w*|SortKernel|unique|onesweep|radix_sort)"
         r"|computeBlockwiseWithinKCounts|computeBlockDigitCounts|computeDigitCumSum|fill_reverse_indices"
         r"|sort_postprocess|_bitmatrix", "@types",
         words="_bitmatrix bitonic computeblockdigitcounts computeblockwisewithinkcounts computedigitcumsum "
               "fill_reverse_indices gatherkth gathermedian kthvalue merge mode_kernel onesweep radix segmented "
               "sort_ sortkernel topk unique"),
    Rule("pytorch-repeat", NO, "copy", "@namespace", r"^(?:at::native::)?compute_cuda_kernel$", "@types",
         note="repeat_interleave's", knows_better=True, words="compute_cuda_kernel"),
    Rule("pytorch-copy", NO, "copy", "@namespace",
         r"CatArrayBatchedCopy|\bcopy_kernel|chunk_cat|split_with_sizes|_copy_out|\btranspose\w*(?:kernel|Kernel)?"
         r"|\bpermute\w*|cast_transpose\w*|\bflip_cuda|\broll_cuda|\bpad\w*_kernel|\bpadding|reflection_pad\w*"
         r"|replication_pad\w*|StoreSlice|slice_kernel", "@types",
         words="_copy_out catarraybatchedcopy chunk_cat copy_kernel flip_cuda pad permute "
               "roll_cuda slice_kernel split_with_sizes storeslice transpose"),
    Rule("pytorch-copy-elementwise", NO, "copy", "@namespace",
         _ELEMENTWISE, "@types",
         _IN_FUNCTOR + r"(?:\w*copy_kernel\w*|copy_device_to_device|CopyFunctor|LoadWithCast\w*copy|CUDA_copy)",
         words="elementwise_kernel loop_kernel"),
    Rule("pytorch-random-elementwise", NO, "random", "@namespace",
         _ELEMENTWISE, "@types",
         _IN_FUNCTOR + r"(?:bernoulli|dropout|masked_scale)\w*", words="elementwise_kernel loop_kernel"),
    Rule("pytorch-elementwise", NO, "elementwise", "@namespace",
         rf"{_ELEMENTWISE}|\bCUDAFunctor|\bvectorized_\w*kernel|\btriu_tril|\bfill_kernel|\btril|\btriu"
         rf"|polar_kernel|glu_kernel", "@types",
         words="cudafunctor elementwise_kernel fill_kernel glu_kernel loop_kernel polar_kernel tril triu vectorized_"),
    Rule("pytorch-reduction", NO, "reduction", "@namespace",
         r"\breduce_kernel|nll_loss\w*|ClassNLLCriterion|ctc_loss\w*|cross_entropy\w*|tensor_kernel_scan\w*"
         r"|scan_(?:inner|outer)\w*|cumsum\w*|cumprod|\bnorm_kernel|lpnorm|LpNorm|aminmax|histogram\w*|bincount"
         r"|segment_reduce\w*|renorm\w*|\bdist\w*kernel|MultiMarginLoss\w*", "@types",
         words="aminmax bincount classnllcriterion cross_entropy ctc_loss cumprod cumsum dist histogram lpnorm "
               "multimarginloss nll_loss norm_kernel reduce_kernel renorm scan_ segment_reduce tensor_kernel_scan"),
    Rule("pytorch-pooling", NO, "other", "@namespace",
         r"(?:max|avg|average|adaptive)_?\w*pool\w*|MaxPool\w*|AvgPool\w*|upsample\w*|grid_sampler\w*"
         r"|interpolate\w*|RoIAlign\w*|roi_\w*|\bnms\w*", "@types",
         note="pooling and resampling", words="grid_sampler interpolate nms pool roi_ roialign upsample"),
    Rule("pytorch-convolution", NO, "convolution", "@namespace",
         r"\bconv_depthwise\w*|\bDepthwiseConv\w*|\bcausal_conv1d\w*|deformable_im2col\w*"
         r"|(?<![A-Za-z])short_conv\w*", "@types",
         words="causal_conv1d conv_depthwise deformable_im2col depthwiseconv short_conv"),
    Rule("pytorch-rnn-cell", NO, "elementwise", "@namespace",
         r"\b(?:lstm|gru)_cell_\w*|\bkernel::(?:lstm|gru)\w*", "@types", words="_cell_ kernel::"),
    Rule("pytorch-attention-rescale", NO, "elementwise", "@namespace",
         r"transform_bias_\w*|transform0213|\badd_padding\w*|\bremove_padding\w*|jagged_\w*|dense_to_jagged\w*",
         "@types", words="add_padding dense_to_jagged jagged_ remove_padding transform0213 transform_bias_"),
    # CUB and Thrust, in whatever namespace they were wrapped.
    Rule("cub-sort", NO, "sort", "cub",
         r"\bcub::\w*(?:::\w+)*::?Device\w*Sort\w*|\bthrust::\w*sort\w*|\brocprim::\w*(?:sort)\w*", "@types",
         words="device rocprim:: thrust::"),
    Rule("cub-reduction", NO, "reduction", "cub",
         r"\b(?:cub|thrust|rocprim|hipcub)::(?:\w+::)*\w*(?:[Rr]educe|[Ss]can|[Hh]istogram)\w*", "@types",
         words="can educe istogram"),
    Rule("rocprim-sort", NO, "sort", "cub", r"\brocprim::", "@types", r"sort_config|radix_sort|merge_sort",
         words="rocprim::"),
    Rule("rocprim-reduction", NO, "reduction", "cub",
         r"\brocprim::", "@types",
         r"scan_config|reduce_config|lookback|scan|reduce", words="rocprim::"),
    Rule("cub-bare", NO, "other", "cub",
         r"^(?:Device(?:RadixSort|Reduce|Scan|Select|Rle|RunLength|Histogram|SegmentedReduce|SegmentedSort"
         r"|SegmentedRadixSort"
         r"|MergeSort|UniqueByKey|Spmv|Partition|ThreeWayPartition|AdjacentDifference|BatchMemcpy|For|Transform"
         r"|SegmentFixup)"
         r"\w*|_kernel_agent|trampoline_kernel|static_kernel)$", "@types",
         note="CUB's, Thrust's and rocPRIM's kernels without their namespaces", knows_better=True,
         words="device _kernel_agent trampoline_kernel static_kernel"),
    Rule("cub-other", NO, "other", "cub", r"\b(?:cub|thrust|rocprim|hipcub|at_cuda_detail|cuda_cub)::", "@types",
         words="at_cuda_detail cub rocprim thrust"),
    Rule("curand", NO, "random", "curand",
         r"\bgen(?:erate)?_(?:sequenced|seed|params|shuffled|mtgp|quasi)\w*|\bcurand\w*|\brocrand\w*|philox|Philox"
         r"|(?i:mt19937)", "@types",
         words="curand mt19937 params philox rocrand seed sequenced shuffled gen_mtgp gen_quasi"),
    # Transformer Engine.
    Rule("transformer-engine-hadamard", YES, "gemm", "transformer_engine",
         r"transformer_engine::(?:\w+::)*\w*(?:Hadamard\w*Kernel|rht_gemm\w*|hadamard_transform_cast\w*)"
         r"|\b(?:group_)?(?:row_col_)?rht_gemm_device"
         r"|^(?:GraphSafe)?(?:Group)?HadamardAmaxTmaKernel$|^HadamardTransformKernel$",
         "bf16", note="a product with a Hadamard matrix, by mma",
         words="rht_gemm_device transformer_engine:: hadamard"),
    Rule("triton-hadamard", YES, "gemm", "triton",
         r"^_(?:group_rht|pergroup_cta_rht|hadamard)_(?:amax|quantize)\w*kernel$|^hadamard_quant_(?:row|col)_kernel$"
         r"|^_(?:rotate_quantize|rot)_(?:q"
         r"|k|qk|k_only)_kernel$",
         note="a product with a Hadamard matrix, by tl.dot", words="_rht hadamard rot"),
    Rule("transformer-engine-attention-helper", NO, "attention", "transformer_engine",
         r"transformer_engine::(?:fused_attn(?:_rocm)?|flash_attention|context_parallel)::", "@types",
         words="transformer_engine::"),
    Rule("transformer-engine-copy", NO, "copy", "transformer_engine",
         r"transformer_engine::(?:\w+::)*\w*(?:transpose|cast|quantize|swizzle|padding|permut)\w*|\bcast_fp8_\w*"
         r"|^block_scaled_\w*cast\w*", "@types", words="block_scaled_ cast_fp8_ transformer_engine::"),
    Rule("transformer-engine", NO, "elementwise", "transformer_engine",
         r"transformer_engine::", "@types", of_rest=True, words="transformer_engine::"),
    Rule("fbgemm-other", NO, "other", "fbgemm", r"^fbgemm_gpu::", "@types", of_rest=True, words="fbgemm_gpu::"),
    Rule("pytorch-other", NO, "other", "@namespace",
         r"^(?:at::|c10::|torch::|caffe2::|vision::ops::)(?!native::tinyg)|^at_cuda_detail"
         r"|\bprepare_grouped_gemm_data", "@types",
         note="PyTorch calls libraries for products; its own kernels hold none",
         words="at:: at_cuda_detail c10:: caffe2:: prepare_grouped_gemm_data torch:: vision::"),
    Rule("pytorch-before-1", NO, "elementwise", "pytorch",
         r"^kernelPointwiseApply\d|^(?:nearest|linear|bilinear)_neighbor_\dd_kernel", "@types",
         note="PyTorch's element-wise kernels before 1.0", words="_neighbor_ kernelpointwiseapply"),
    Rule("apex", NO, "elementwise", "apex",
         r"\b(?:apex|fused_bias_gelu|xentropy)\w*::|\bbias_gelu\w*|fused_rope_\w*", "@types",
         words="apex bias_gelu fused_rope_ xentropy"),
)  # fmt: skip
