"""cuDNN and TensorRT convolutions (xmma), and cuDNN's other kernels."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

_LISTED = r"(?:dgrad_1x1_stride_2x2|first_layer_(?:fwd|wgrad)_kernel|conv1x1|conv2d_c1_k1|direct_group)"
_CONVOLUTION = r"(?:fprop|dgrad|wgrad|conv|deconv)"

RULES: Final = (
    # Depthwise first: its names say f16 and name no instruction.
    Rule("xmma-depthwise", UNKNOWN, "convolution", "cudnn",
         r"xmma_depthwise", "@words",
         note="a depthwise convolution that names no instruction", words="xmma_depthwise"),
    # xmma: <arch>_xmma_<what>_<operands>_..._<tile>_..._<unit>. NVIDIA's own list of Tensor Core names holds
    # ``xmma_gemm``, and is wrong about the FP32 kernels of the same library: they run on CUDA cores (published
    # timings: 52 TFLOPS on an H100 where the TF32 kernel reaches 417).
    Rule("xmma-split-k", NO, "reduction", "cudnn", r"^xmma\w*::(?:\w+::)*split_k_kernel", "@types",
         note="sums the parts of a split product", words="split_k_kernel"),
    Rule("xmma-reorder", NO, "copy", "cudnn", r"^xmma\w*::(?:\w+::)*(?:cuda_)?reorder\w*", "@types",
         note="weights and filters in the order that products read", knows_better=True, words="reorder"),
    Rule("xmma-pooling", NO, "other", "cudnn", r"xmma_pooling", "@words", note="pooling", knows_better=True,
         words="xmma_pooling"),
    Rule("xmma-ffma-convolution", NO, "convolution", "cudnn",
         rf"xmma_\w*{_CONVOLUTION}\w*(?:_[fd]fma|_simt|_hfma)", "@words",
         note="FMA: CUDA cores", words="xmma_"),
    Rule("xmma-ffma", NO, "gemm", "cublas", r"xmma_\w*(?:_[fd]fma|_simt|_hfma)", "@words", note="FMA: CUDA cores",
         words="xmma_"),
    Rule("xmma-tensor-convolution", YES, "convolution", "cudnn",
         rf"xmma_\w*{_CONVOLUTION}\w*(?:tensor\d+x|warpgroupsize|_[higdq]g?mma_)", "@words", words="xmma_"),
    Rule("xmma-tensor", YES, "gemm", "cublas",
         r"xmma_\w*(?:tensor\d+x|warpgroupsize|_[higdq]g?mma_|sparse_gemm)", "@words", words="xmma_"),
    Rule("xmma-old-convolution", NO, "convolution", "cudnn",
         rf"sm(?:50|52|53|60|61|62)_xmma_\w*{_CONVOLUTION}", "@words",
         note="an architecture without Tensor Cores", words="_xmma_"),
    Rule("xmma-old", NO, "gemm", "cublas",
         r"sm(?:50|52|53|60|61|62)_xmma_", "@words",
         note="an architecture without Tensor Cores", words="_xmma_"),
    Rule("xmma-tf32-convolution", YES, "convolution", "cudnn", rf"xmma_\w*{_CONVOLUTION}\w*tf32", "tf32",
         words="xmma_"),
    Rule("xmma-tf32", YES, "gemm", "cublas", r"xmma_\w*tf32", "tf32", words="xmma_"),
    Rule("xmma-narrow-convolution", YES, "convolution", "cudnn",
         rf"xmma_\w*{_CONVOLUTION}\w*_(?:bf16|f16|i8|e4m3|e5m2|f8)", "@words", words="xmma_"),
    Rule("xmma-narrow", YES, "gemm", "cublas", r"xmma_\w*_(?:bf16|f16|i8|e4m3|e5m2|f8)", "@words", words="xmma_"),
    Rule("xmma-fp32-convolution", NO, "convolution", "cudnn",
         rf"sm[5-8]\d_xmma_\w*{_CONVOLUTION}\w*_f32f32_f32(?:f32)?(?:_|$)", "fp32",
         note="all operands FP32", words="_f32f32_f32"),
    Rule("xmma-fp32", NO, "gemm", "cublas",
         r"sm[5-8]\d_xmma_\w*_f32f32_f32(?:f32)?(?:_|$)", "fp32", note="all operands FP32", words="_f32f32_f32"),
    Rule("xmma-template", YES, "convolution", "cudnn", r"^xmma\w*::(?!ext::batchnorm::bn_stats)", "@mma word",
         r"implicit_gemm.*_[hidq]g?mma_", words="xmma"),
    Rule("xmma-template-gemm", YES, "gemm", "cublas", r"^xmma\w*::(?!ext::batchnorm::bn_stats)", "@mma word",
         r"_[hidq]g?mma_", words="xmma"),
    Rule("xmma-template-fma", NO, "gemm", "cublas", r"^xmma\w*::", "@types", r"_[fsd]?[fh]fma_|simt", words="xmma"),
    Rule("xmma-other-convolution", UNKNOWN, "convolution", "cudnn", rf"(?:^|_)xmma_\w*{_CONVOLUTION}", "@words",
         words="xmma_"),
    Rule("xmma-other", UNKNOWN, "gemm", "cublas", r"(?:^|_)xmma", "@words", words="xmma"),
    # The rest of cuDNN. Kernels that NVIDIA's list names as Tensor Core kernels are so in half precision.
    Rule("cudnn-fft", NO, "convolution", "cudnn",
         r"\bfft[123]d_(?:r2c|c2r)\w*|\bcgemm_\w*cudnn|\bfft2d_\w*|\bpointwise_mult_and_sum_complex\w*", "@types",
         note="convolution by FFT", words="cgemm_ fft pointwise_mult_and_sum_complex"),
    Rule("cudnn-winograd", NO, "convolution", "cudnn",
         r"^(?!.*(?i:gemm)).*(?i:winograd)(?!\w*(?:mma|884|1688|16816|xdlops))", "@blas letter",
         note="convolution by Winograd's transform on CUDA cores", words="winograd"),
    Rule("cudnn-dp4a", NO, "convolution", "cudnn",
         r"(?:^|_)icudnn_u?int8x4", "int8", note="dp4a: four INT8 products by element", words="int8x4"),
    Rule("cudnn-scudnn", NO, "convolution", "cudnn",
         r"(?:^|_)[shd]cudnn(?:_|$)", "@blas letter",
         note="no instruction in the name: CUDA cores", words="cudnn"),
    Rule("cudnn-convolve", NO, "convolution", "cudnn",
         r"\b(?:im|ex)plicit_convolve\w*_(?:[sdh]|hh)gemm|\bprecomputed_convolve\w*|\bconvolve_common_engine\w*"
         r"|\bexplicit_convolve", "@types or blas letter",
         note="CUDA cores, also hhgemm", words="convolve_common_engine plicit_convolve precomputed_convolve"),
    Rule("cudnn-grouped-direct", NO, "convolution", "cudnn",
         r"\b(?:conv|dgrad|wgrad|fprop)\w*_grouped_direct_kernel|\bgrouped_direct", "@types", words="grouped_direct"),
    Rule("depthwise", NO, "convolution", "@namespace",
         r"Depthwise_?Conv\w*|\b(?:depthwise_\w*conv\w*|conv_depthwise\w*|spatialDepthwise\w*|dwconv\w*"
         r"|conv2d_dw_\w+)", "@types",
         note="no product of matrices", words="depthwise dwconv conv2d_dw"),
    Rule("cudnn-depthwise-reduction", NO, "reduction", "cudnn", r"\bwgrad2d_c1_k1\w*reduction\w*", "@types",
         knows_better=True, words="wgrad2d_c1_k1"),
    Rule("cudnn-depthwise-gradient", UNKNOWN, "convolution", "cudnn",
         r"\b[dw]grad2d_c1_k1\w*", "@types",
         note="the forward kernel is in NVIDIA's own list of Tensor Core kernels, this one is not",
         words="grad2d_c1_k1"),
    Rule("cudnn-listed-half", YES, "convolution", "cudnn",
         _LISTED, "@types",
         r"__half|half_t|Half|bfloat16|fp16",
         note="in NVIDIA's own list of Tensor Core kernels",
         words="conv1x1 conv2d_c1_k1 dgrad_1x1_stride_2x2 direct_group first_layer_"),
    Rule("cudnn-listed", UNKNOWN, "convolution", "cudnn",
         _LISTED, "@types",
         note="in NVIDIA's own list of Tensor Core kernels, but its type is not a half",
         words="conv1x1 conv2d_c1_k1 dgrad_1x1_stride_2x2 direct_group first_layer_"),
    Rule("cudnn-engine", NO, "convolution", "cudnn",
         r"\b(?:convolveNd_)?(?:dgrad|wgrad|fprop|bprop)\w*_engine\w*|\breduce_wgrad_nchw_helper|\bdgrad2d\w*"
         r"|\bwgrad2d\w*"
         r"|^cudnn::(?:\w+::)*(?:conv2d_\w*kernel|cudnn_depthwise_nchw_\w+)", "@types",
         note="direct convolution on CUDA cores", words="_engine cudnn:: dgrad2d reduce_wgrad_nchw_helper wgrad2d"),
    Rule("cudnn-persistent-rnn-tensor", YES, "gemm", "cudnn",
         r"\bRNN_\w*Persist\w*_HMMA", "@types", note="HMMA in its name", words="persist"),
    Rule("cudnn-persistent-rnn-fp32", NO, "gemm", "cudnn",
         r"\bRNN_\w*Persist\w*|\bpersistRNN\w*", "fp32",
         r"<\s*(?:float|double)\s*,\s*(?:float|double)", note="FP32 weights and no HMMA in its name", words="persist"),
    Rule("cudnn-persistent-rnn-fma", NO, "gemm", "cudnn", r"\bRNN_blockPersist\w*_FMA$", "@types",
         note="the instruction stands in the name", words="_fma"),
    Rule("cudnn-persistent-rnn", UNKNOWN, "gemm", "cudnn",
         r"^(?:volta|turing|ampere|hopper)_(?:lstm|gru|rnn)_\w+|\bRNN_blockPersist\w*|\bpersistRNN\w*"
         r"|\bRNN_persist_\w+|\bpersistent_rnn\w*", "@types",
         note="built with and without Tensor Cores",
         words="persistent_rnn persistrnn rnn_blockpersist rnn_persist _lstm_ _gru_ _rnn_"),
    Rule("cudnn-rnn-cell", NO, "elementwise", "cudnn",
         r"\bL?STM_elementWise\w*|\bLSTM_element\w*|\bGRU_element\w*|\belemWiseRNNcell|\bRNN_(?:element"
         r"|handleInEdge|skipInput)\w*"
         r"|\bRNN(?:Input|Output)Rearrange\w*"
         r"|\bGENERIC_elementWise\w*|\bRNN_\w*accum_bp\w*", "@types",
         words="rnn_handle rnn_skip rearrange elemwisernncell gru_element lstm_element rnn_element stm_elementwise "
               "generic_elementwise accum_bp"),
    Rule("cudnn-layout", NO, "copy", "cudnn",
         r"\b(?:nchwToNhwc|nhwcToNchw|nchwTo\w+|nhwcTo\w+|nchwAddPadding|nhwcAddPadding|tensorTransform\w*"
         r"|kern_?[tT]ranspose\w*|foldedNhwcToNchw\w*|ncqhw\w*|convertTensor\w*"
         r"|cubeTranspose\w*|convert_tensor\w*)|\bnhwc2nchw|\bnchw2nhwc|\bim2col4d_kernel|\bflip_filter"
         r"|\bcol2im\w*|\bim2col\w*|_RSKC_to_KRSC_\w+"
         r"|\bvol2col\w*|\bcol2vol\w*|\breorderImma\w+", "@types", knows_better=True,
         words="reorderimma rskc_to_krsc col2im col2vol convert_tensor converttensor flip_filter im2col nchw2nhwc "
               "nchwaddpadding nchwto "
               "ncqhw nhwc2nchw nhwcaddpadding nhwcto ranspose tensortransform vol2col"),
    Rule("cudnn-offsets", NO, "other", "cudnn",
         r"\bcompute\w*Offsets?Kernel\w*|\bcompute[A-Z]*Offsets\w*|\bkern_precompute_indices",
         note="addresses for a convolution", knows_better=True, words="compute"),
    Rule("cudnn-batch-norm", NO, "normalisation", "cudnn",
         r"\bbn_(?:fw|bw)_\w*|cudnn::\w*(?:batch_?norm|bn_|norm)\w*|nhwc_batch_?norm\w*|\bbatchnorm_\w*|\bgenStat"
         r"|cudnn_generated_\w*norm", "@types", words="batchnorm_ bn_ cudnn:: cudnn_generated_ genstat nhwc_batch"),
    Rule("cudnn-softmax", NO, "softmax", "cudnn", r"\bsoftmax_(?:fw|bw)_\w*|cudnn::\w*softmax\w*", "@types",
         words="cudnn:: softmax_"),
    Rule("cudnn-pooling", NO, "other", "cudnn",
         r"\bpooling_(?:fw|bw)_\w*|\bpooling_\w*kernel\w*", "@types",
         note="pooling", words="pooling_"),
    Rule("cudnn-elementwise", NO, "elementwise", "cudnn",
         r"\bop_?(?:generic_)?tensor_kernel\w*|\bop_generic_tensor\w*|\badd_tensor_kernel\w*"
         r"|\bscale(?:Packed)?Tensor\w*|\bactivation_(?:fw|bw)_\w*|\bsetTensor\w*|\bscale_tensor\w*"
         r"|\blrn(?:_[fb]w_|Forward|Backward)\w*|\bgenerate_grid_[fb]w_\w+|\bSBAR_\w+|\bcompute_(?:alphas|grads_deterministic)\w*|\bdivNorm_\w+|\btransposeDirect_kernel"
         r"|\bscaleFilterNd_\w+"
         r"|\bconvolution_bias\w*|\bfprop_bias\w*|\bbiasBw\w*"
         r"|\bcalc_bias_diff\w*", "@types",
         words="lrn generate_grid sbar_ "
               "compute_alphas compute_grads divnorm transposedirect scalefilternd activation_ biasbw "
               "calc_bias_diff "
               "convolution_bias fprop_bias op_tensor "
               "optensor op_generic_tensor "
               "opgeneric_tensor add_tensor scaletensor scalepackedtensor settensor scale_tensor"),
    Rule("cudnn-dropout", NO, "random", "cudnn", r"\bcudnn\w*::\w*dropout\w*|\bdropout_(?:fw|bw)\w*", words="dropout"),
    Rule("cudnn-generated-convolution", YES, "convolution", "cudnn",
         r"^cudnn_generated_\w*conv(?:Fwd|fwd|Bwd|bwd|Dgrad|dgrad|Wgrad|wgrad|olution)\w*", "@words",
         note="cuDNN's runtime fusion serves Tensor Cores only", words="cudnn_generated_"),
    Rule("cudnn-generated-matmul", YES, "gemm", "cudnn",
         r"^cudnn_generated_\w*matmul\w*", "@words", note="cuDNN's runtime fusion serves Tensor Cores only",
         words="cudnn_generated_"),
    Rule("cudnn-generated", UNKNOWN, "other", "cudnn", r"^cudnn_generated_", "@words", words="cudnn_generated_"),
    Rule("cudnn-ops", NO, "other", "cudnn",
         r"^cudnn::ops::|^cudnn::engines_precompiled::\w*(?:[Tt]o|[Tt]ensor)\w*", "@types",
         words="cudnn::engines_precompiled:: cudnn::ops::"),
    Rule("cudnn-other", UNKNOWN, "other", "cudnn",
         r"^cudnn(?!::bilinear_sampler|_(?:maxwell|volta|turing|ampere)_[cdsz]gemm)", "@words or types",
         words="cudnn"),
    Rule("cask-other", NO, "other", "cudnn", r"^cask\w*::", note="preparation kernels of products and convolutions",
         knows_better=True, words="cask"),
)  # fmt: skip
