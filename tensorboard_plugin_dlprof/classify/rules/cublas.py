"""cuBLAS, cuBLASLt, CUTLASS and other dense linear algebra of NVIDIA."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

_ARCHITECTURE = (
    r"^(?:trt_|cudnn_|cublas(?:Lt)?_|infer_|train_)*(?i:fermi|kepler|maxwell|pascal|volta|turing|ampere|ada"
    r"|hopper|blackwell"
    r"|sm\d+)(?:Plus|_|\d)"
)

RULES: Final = (
    # Helpers around products.
    Rule("split-k-reduce", NO, "reduction", "cublas", r"\bsplitKreduce_kernel|\bsplit_?[kK]_?[rR]educe", "@types",
         r"^(?!.*opus_)", knows_better=True, words="split"),
    Rule("cublas-epilogue", NO, "elementwise", "cublas",
         r"^globalKernel$|\b(?:cublasLt::)?epilogue::impl::globalKernel|\bcublasLt::epilogue", "@types",
         knows_better=True,
         words="cublaslt::epilogue epilogue::impl::globalkernel globalkernel"),
    Rule("cublas-emulation", NO, "elementwise", "cublas",
         r"\bprolog_mod_\w+|\binverse_scaling_mrc_kernel", "fp64", r"\boz2_",
         note="takes doubles apart for the INT8 products that stand in for theirs, and puts them together again",
         knows_better=True, words="inverse_scaling_mrc_kernel prolog_mod_"),
    Rule("cublas-level-1", NO, "reduction", "cublas",
         r"\b(?:rotm?g?_(?:real_)?kernel\w*|[tgsh][bp][ms]v_(?:tile_)?kernel\w*|syhemm_kernel\w*|her2?_kernel"
         r"|block_dot_kernel_(?:ref|val)|reduce_1Block_kernel"
         r"|(?:dot|asum|nrm2|iamax|iamin|amax)_(?:64addr_)?kernel)\b",
         "@types", knows_better=True,
         words="rot pmv_ psv_ bmv_ bsv_ syhemm her_kernel her2_kernel amax_ asum_ dot_ iamin_ nrm2_ "
               "reduce_1block_kernel"),
    Rule("cublas-vector", NO, "elementwise", "cublas",
         r"\b(?:axpy_kernel_val|axpy_kernel|scal_kernel(?:_val)?|copy_kernel|rot_kernel|swap_kernel|cublas_(?:axpy"
         r"|scal))", "@types", r"cublas|^(?:void )?\w+(?:$|<)", words="axpy_kernel copy_kernel cublas_ rot_kernel "
               "scal_kernel swap_kernel"),
    Rule("cublas-transpose", NO, "copy", "cublas", r"\btranspose_readWrite\w*", "@types", knows_better=True,
         words="transpose_readwrite"),
    Rule("split-products-sum", NO, "reduction", "@namespace",
         r"(?i:(?:split_?k|stream_?k)_?(?:\w+_)?(?:reduc(?:e|tion)|fix_?up|combine|sum)(?!_?scatter))\w*$"
         r"|^reduce_split_?k\w*|_(?:merge|combine)_split_?k(?:_kernel)?$", "@types",
         note="sums the parts of a split product", knows_better=True, words="split stream"),
    Rule("cublas-pointers", NO, "other", "cublas",
         r"\bcompute_gemm_pointers|\bk_compute_batched_ptrs|[gG]emmPreCompute\w*Kernel$|\bprepare_grouped_gemm_data"
         r"|\bkernel_compute_pointers|\bgetPtrArray"
         r"|computePointers",
         note="addresses of a batch", knows_better=True,
         words="compute_gemm_pointers k_compute_batched_ptrs gemmprecompute computepointers getptrarray "
               "kernel_compute_pointers prepare_grouped_gemm_data"),
    Rule("gemm-arguments", NO, "other", "@namespace",
         r"(?:^|::)_?(?:set|setup|compute|prepare|get|fill|init|build|make)_?\w*(?:gemm|Gemm|GEMM|conv"
         r"|matmul)\w*(?:_?(?i:args"
         r"|arguments|ptrs|pointers|offsets|strides|starts|problem_sizes|problems|metadata|indices))\w*$"
         r"|(?:^|::)computeStridesTmaWarpSpecialized\w*|^interleave_\w*weights_for_\w*gemm\w*"
         r"|^(?:setup|set)_grouped_gemm\w*kernel$|^_*(?:\w+_)?get_group(?:ed)?_gemm_starts\w*",
         note="addresses, strides and layouts for products to come", knows_better=True,
         words="args arguments ptrs pointers offsets strides starts problem metadata indices interleave_ grouped_gemm"),
    # Products without Tensor Cores: too small a dimension for a tile.
    Rule("gemv", NO, "gemm", "cublas",
         r"\bgemv(?:NSP|2[TN]|N|T)?_kernel\w*|\bgemvx::kernel|\bgemv2[TN]|\bgemv\w*_kernel|\bgemvNSP", "@types",
         note="matrix times vector", words="gemv"),
    Rule("gemm-small-n", NO, "gemm", "cublas",
         r"\bgemmSN_[NT]{2}_kernel\w*|\bgemmk1_kernel|\b(?:batch_)?[sdcz]?gemm(?:_kernel)?[1-9]x[1-9]_\w*core"
         r"|\bbatch_gemm_kernel_64addr|\bger_kernel"
         r"|\bgemmMx|\bsmallgemm", "@types",
         note="a dimension too small for a tile",
         words="gemm_kernel gemm1x1 gemm2x2 gemmk1_kernel gemmmx gemmsn_ ger_kernel smallgemm"),
    Rule("magma", NO, "gemm", "magma",
         r"\bmagma\w*gemm\w*|\bmagma_?\w*|\bgemm_template_batched_(?:[nt]{2}_)?kernel|\bgemm_batched_\w*kernel_magma",
         "@blas letter", words="gemm_batched_ gemm_template_batched_ magma"),
    Rule("cusolver", NO, "other", "cusolver", r"^(?:kernel|epilogue)$", "@types",
         r"\b(?:kernel|epilogue)<\w+_params_?<",
         note="cuSOLVER's factors and eigenvalues: kernel<getrf_wo_pivot_params_<float, 0>>", words="kernel epilogue"),
    Rule("cublas-triangular", NO, "other", "cublas",
         r"(?:\b|kernel_)[sdcz]?(?:trsm|trsv|trmm|trmv)_|\btrmm(?:2|_left|_right)?_kernel|\bsyrk_kernel"
         r"|\bsyr2?k?_kernel|\bsymv_"
         r"|\bgetr[fsi]_"
         r"|\bgetrf|\bpotrf|\b[sdcz]getf2trsm_"
         r"|\blaswp|\bgeqr(?:f|Solve)|\bormqr|\blarft|\btrtri|\bbatch_trsm|\bxxtrf\d|\bunpack_pivots|\b(?:create_)?ipiv_\w+"
         r"|\bcreate_pivot", "@types",
         knows_better=True,
         words="create_pivot geqr getr ipiv_ larft laswp ormqr potrf symv_ syr trmm trmv trsm trsv trtri "
               "unpack_pivots xxtrf"),
    Rule("lapack", NO, "other", "cusolver",
         r"^(?!.*(?i:gemm|mma))(?:kernel::)?(?:\w*_)?(?:mg)?[sdcz]?(?:ge(?:tr[fsi]|tf2|qr[f2]|lq[f2]|brd|bd2|sv"
         r"|sv[dj]\w*"
         r"|ls)|po(?:tr[fsi]|tf2|sv)|(?:sy|he)(?:tr[dfsi]|td2|ev\w*|gst)|(?:or|un)(?:m[qlr]{2}|g[qlr]{2}|gtr|mtr)"
         r"|la(?:ed\d|brd|rf[tbgx]?|swp|trd|sr)|tr(?:tri|sm|sv)|lan(?:sy|ge|he|tr)|symv|hemv|dgmm|householder"
         r"|tridiag\w*)\d*(?:v\d)?(?:_\w*)?$"
         r"|^i?glu_(?!kernel|for|back|act|grad|fwd|bwd|mul)\w+_\w+$|^(?:svd_)?(?:column|row)_rotate_\w+"
         r"|^(?:batch_|gelange_)?(?:Fnrm|off)A_stage\d|^gehd2_\w+|^panel_(?:Max|One)_norm_kernel"
         r"|^(?:set|copy)_panel_\w+_kernel|^svd_col_scale_kernel|^diagonal_(?:left|right)_multiply",
         "@types", note="factors, solutions and eigenvalues, by cuSOLVER or like its own", knows_better=True,
         words="getr getf geqr gelq gebr gebd gesv gels potr potf posv sytr sytd syev sygst hetr hetd heev orm org unm "
               "ung laed labrd larf laswp latrd lasr lansy lange lanhe lantr trtri trsm trsv symv hemv dgmm "
               "householder tridiag glu_ row_rotate column_rotate fnrma_ offa_ gehd panel_ svd_col diagonal_"),
    Rule("sparse-formats", NO, "other", "cusparse",
         r"^(?!.*(?i:gemm|mma|sddmm))(?:\w*_)?(?:rf|sp|ge|d)?(?:csr|bsr|csc|coo)(?:sv|sm|ilu|ic|geam|qr|x?mv"
         r"|2(?:csr|bsr|gebsr"
         r"|csc|coo|dense))\w*$|^(?:\w+_)?(?:\w*2csr|gtsv|ilu0|ic0|pcr)(?:_\w+)?$|^(?:crGlobal|pcr[A-Z])\w+"
         r"|^(?:jpl|multihash)_step$",
         "@types", note="factors, solutions and layouts of sparse matrices, by cuSPARSE or like its own",
         knows_better=True,
         words="csr bsr csc coo gtsv ilu0 ic0 crglobal pcr cr_ jpl_step multihash_step"),
    # CUTLASS, by the words in its generated names, then by the types in its templates.
    Rule("cutlass-reduction", NO, "reduction", "cutlass",
         r"^cutlass\w*::", "@types",
         r"reduction::(?:kernel|device)::|ReduceSplitK", words="cutlass"),
    Rule("cutlass-transform", NO, "copy", "cutlass", r"^cutlass\w*::", "@types",
         r"transform::(?:kernel|device)::|StructuredSparseCompressor|ConvFilterFormatTransformer",
         note="packs or reorders operands", words="cutlass"),
    Rule("cutlass-layout", NO, "copy", "cutlass",
         r"^(?:cutlass::)?(?:nchw_to_nhwc|nhwc_to_nchw|nhwc_padding|nhwc_pooling)\w*kernel$", "@types", words="nhwc"),
    Rule("cutlass-simt-convolution", NO, "convolution", "cutlass",
         "", "@blas letter",
         r"cutlass\w*_simt_\w*(?:fprop|dgrad|wgrad|conv)",
         note="SIMT: CUDA cores"),
    Rule("cutlass-simt", NO, "gemm", "cutlass", "", "@blas letter", r"cutlass\w*_simt_", note="SIMT: CUDA cores"),
    Rule("cutlass-convolution", YES, "convolution", "cutlass",
         "", "@instruction",
         r"cutlass\w*(?:tensorop|wmma)\w*(?:fprop|dgrad|wgrad|conv[123]d)"
         r"|^cutlass_*\w*_cudnn::Kernel<cutlass_tensorop",
         note="cuDNN's own copy of CUTLASS holds convolutions"),
    Rule("cutlass-attention", YES, "attention", "cutlass",
         "", "@instruction",
         r"cutlass\w*_(?:tensorop|wmma)_\w*(?:fmha|attention)"),
    Rule("cutlass", YES, "gemm", "cutlass",
         "", "@instruction",
         r"cutlass\w*_(?:wmma_)?(?:(?:bs)?(?:sp)?tensorop|wmma)|cutlass_tensorop"),
    Rule("cutlass-template-convolution", YES, "convolution", "cutlass",
         r"^cutlass\w*::(?:Kernel\w*|device_kernel)", "@types",
         r"(?:conv6kernel|conv::kernel|ImplicitGemmConvolution|implicit_gemm|ConvUniversal).*(?:TensorOp|GMMA"
         r"|TiledMMA|MMA_Atom|SM\d+_\d+x)", words="cutlass"),
    Rule("cutlass-template", YES, "gemm", "cutlass",
         r"^cutlass\w*::(?:Kernel\w*|device_kernel|gemm_kernel\w*)|^(?:device_kernel|gemm_device$)"
         r"|^kernel_cutlass", "@types",
         r"MMA_Atom<(?:cute::)?SM\d+_|TensorOp|GMMA|Wgmma|UMMA|tcgen05|MainloopSm(?:90|1[0-2]\d)|\bSM(?:70|75|80|89"
         r"|90|1[0-2]\d)_\d+x\d+x\d+"
         r"|OpClassWmma|KernelTma\w*Warp|TmaWarpSpecialized|sparse_mma", words="cutlass device_kernel gemm_device"),
    Rule("cutlass-3-cut", YES, "gemm", "cutlass",
         r"^cutlass::device_kernel$", "@types",
         r"(?:GemmUniversalI|GemmUniversal<)N?(?:S\w*_)?4?(?:cute)(?:::)?5?tup|GemmUniversalIN4cute"
         r"|GroupProblemShape|enable_3x_kernel_for_sm\d",
         note="a CUTLASS 3 product, cut short; those of frameworks are for Hopper and later",
         words="cutlass::device_kernel"),
    Rule("cutlass-fp8", YES, "gemm", "cutlass",
         r"^cutlass\w*::device_kernel", "fp8",
         r"\bDeviceGemm\w*Fp8|(?i:\b\w*fp8\w*(?:<.*>)?::\w*gemm\w*kernel)",
         note="a product of FP8 has nowhere else to run", words="::device_kernel"),
    Rule("cutlass-fp4", YES, "gemm", "cutlass",
         r"^cutlass\w*::device_kernel", "fp4",
         r"\bDeviceGemm\w*Fp4|(?i:\b\w*fp4\w*(?:<.*>)?::\w*gemm\w*kernel)",
         note="a product of FP4 has nowhere else to run", words="::device_kernel"),
    Rule("cutlass-template-simt", NO, "gemm", "cutlass",
         r"^cutlass\w*::(?:Kernel\w*|device_kernel)", "@types",
         r"Simt|UniversalFMA", words="cutlass"),
    Rule("cutlass-gemv", NO, "gemm", "cutlass",
         r"^cutlass\w*::Kernel\w*", "@types",
         r"gemm::kernel::Gemv", note="matrix times vector", words="::kernel"),
    Rule("cutlass-dsl-normalisation", NO, "normalisation", "cutlass",
         r"^kernel_cutlass_\w*(?:rms_?norm|layer_?norm|Norm)", "@words", words="kernel_cutlass_"),
    Rule("cutlass-dsl-collective", NO, "collective", "cutlass",
         r"^kernel_cutlass_\w*(?:oneshot|allreduce|all_reduce|comm)", "@words", words="kernel_cutlass_"),
    Rule("cutlass-dsl-quantise", NO, "elementwise", "flashinfer",
         r"^kernel_cutlass_kernel_flashinferquantizationkernels\w+", "@words", knows_better=True,
         note="FlashInfer's modules of quantisers; Linear is a layout", words="kernel_cutlass_"),
    Rule("cutlass-dsl-elementwise", NO, "elementwise", "cutlass",
         r"^kernel_cutlass_(?!\w*(?:MMA|[Gg]emm|GEMM|[Ff]lash(?!infer)|[Ff]mha|FMHA|[Aa]tt(?:ention|n)"
         r"|[Cc]onv(?!ert)))"
         r"\w*(?:[Qq]uantiz|elementwise|_convert|[Aa]ctivation|[Ss]ilu|[Rr]ope)", "@words", words="kernel_cutlass_"),
    Rule("cutlass-dsl-mma", YES, "gemm", "cutlass",
         r"^kernel_cutlass_\w*(?:TiledMMA|MMAAtom)", "@words", note="a product's atom among its arguments",
         words="kernel_cutlass_"),
    Rule("cutlass-dsl-gemm", YES, "gemm", "cutlass",
         r"^kernel_cutlass_\w*(?:[Gg]emm|GEMM)", "@words",
         note="CuTe DSL products use wgmma or tcgen05", words="kernel_cutlass_"),
    Rule("cutlass-dsl", UNKNOWN, "gemm", "cutlass", r"^kernel_cutlass_kernel_\w*", "@words",
         words="kernel_cutlass_kernel_"),
    Rule("cutlass-bare", UNKNOWN, "gemm", "cutlass", r"^(?:Kernel2|device_kernel)$", "",
         note="CUTLASS's entry without its template, which would tell", words="kernel2 device_kernel"),
    Rule("cutlass-other", UNKNOWN, "gemm", "cutlass",
         r"^cutlass\w*::(?:Kernel\w*|device_kernel)|^cutlass_\w+", "@types", words="cutlass"),
    # cuBLASLt on Hopper and Blackwell: wgmma or tcgen05 throughout.
    Rule("nvjet", YES, "gemm", "cublas", r"\bnvjet", "@nvjet", words="nvjet"),
    # spconv: <arch>_<types><layouts>_m..n..k.._T<instruction>.
    Rule("spconv-tensor", YES, "convolution", "spconv",
         r"(?:^|::)(?:gp|sp)?(?:Volta|Turing|Ampere|Hopper)_[a-z]+\d+\w*_m\d+n\d+k\d+\w*T\d+", "@spconv",
         words="ampere hopper turing volta"),
    Rule("spconv-simt", NO, "convolution", "spconv",
         r"(?:^|::)(?:gp|sp)?Simt(?:DP4A)?_[a-z]+\d+\w*_m\d+n\d+k\d+", "@spconv", note="SIMT: CUDA cores",
         words="simt"),
    # The instruction in the name. A letter or an underscore must stand before the digits: 884 alone is a tile.
    Rule("mma-sparse", YES, "gemm", "cublas", r"(?:^|_)[shicdz]?(?:16816|16832|16864)spgemm", "@instruction",
         words="spgemm"),
    Rule("mma-convolution", YES, "convolution", "cudnn",
         r"(?:^|_)[shicdz]?(?:884|1688|16816|161616|8816|16832|16864)(?:bf16|f16|tf32)?(?:cudnn|conv|fprop|dgrad"
         r"|wgrad)", "@instruction", words="conv cudnn dgrad fprop wgrad"),
    Rule("mma", YES, "gemm", "cublas",
         r"(?:^|_)(?:[shicdz](?:884|1688|16816|161616|8816|8832|16832|16864)(?:bf16|f16|tf32)?(?:gemm|symm|syrk"
         r"|trmm|herk|\w*gemm|_|$)|(?:884|1688|16816|161616|8816|16832|16864)gemm)", "@instruction",
         words="161616 16816 16832 16864 1688 8816 8832 884 gemm"),
    Rule("mma-word-volta", YES, "convolution", "cudnn",
         r"(?i)^(?:volta|turing)_[hi]mma_\w*(?:fprop|dgrad|wgrad)", "fp16",
         note="its fp32 is the accumulator's", words="turing volta"),
    Rule("mma-word-convolution", YES, "convolution", "cudnn",
         r"(?:fprop|dgrad|wgrad|conv|cudnn)\w*(?:^|_)[hiwdq]mma(?:_|$)|(?:^|_)[hiwdq]mma_\w*(?:fprop|dgrad|wgrad"
         r"|conv)|(?:volta|turing)_\w*[hi]mma\w*cudnn", "@words", words="conv cudnn dgrad fprop mma_ wgrad"),
    Rule("mma-word", YES, "gemm", "cublas",
         _ARCHITECTURE + r"(?:\w*_)?(?:hmma|imma|dmma|wmma|wgmma|gmma|qmma|bmma|utcmma|hgmma|igmma|qgmma"
         r"|tensor_op)(?:_|$)",
         "@words or types", words="bmma dmma gmma hmma imma qmma tensor_op utcmma wmma"),
    # Products on CUDA cores, by BLAS letter and no instruction.
    Rule("blas-letter", NO, "gemm", "cublas",
         _ARCHITECTURE + r"(?:\w*_)?(?:g?[cz]|s|d|h|sc)gemm(?:_|Ex|$)|^[sdczh]gemm_(?:largek|\d+x\d+x\d+)\w*"
         r"|^(?:gemm_)?kernel\w*_[sdcz]gemm\w*|^(?:fermi|maxwell|kepler)(?:Plus)?[A-Z]?[sdczSDCZ]?gemm(?:_\w*kernel"
         r"|LDS)\w*",
         "@blas letter",
         note="no instruction in the name: CUDA cores, also for hgemm", words="gemm"),
    Rule("igemm-dp4a", NO, "gemm", "cublas",
         r"^(?:maxwell|pascal|volta)_(?:\w+_)?igemm|^(?:turing|ampere)_igemm_int8_\d+x\d+_ldg4", "int8",
         note="dp4a: products by INT8 instructions of matrix units have their shape in the name, i8816gemm",
         words="igemm"),
    Rule("igemm", UNKNOWN, "gemm", "cublas",
         r"(?:^|_)(?:int8_)?igemm|\bimma_?gemm|(?:^|_)int8_\w*gemm", "int8",
         note="INT8 runs as dp4a or as IMMA", words="igemm imma int8_"),
    Rule("torchsparse-tensor", YES, "convolution", "torchsparse",
         r"^conv_(?:forward|backward)_cuda_setting\d_mode\d_(?:f16f16|tf32tf32|bf16bf16)\w*", "@words",
         note="mma.sync on the types of its name", words="_cuda_setting"),
    Rule("torchsparse-fp32", NO, "convolution", "torchsparse",
         r"^conv_(?:forward|backward)_cuda_setting\d_mode\d_f32f32\w*", "fp32", note="FP32 on CUDA cores",
         words="_cuda_setting"),
    Rule("cutensor-permutation", NO, "copy", "cutensor",
         r"permutationKernel|\bcutensor\w*::\w*(?:permut|elementwise|reduct)\w*|CUTENSOR_NAMESPACE::permutation",
         words="cutensor permutationkernel"),
    Rule("cutensor-contraction", UNKNOWN, "gemm", "cutensor",
         r"(?i:cutensor)\w*::\w*(?:contraction|tensor)", "@types", words="cutensor"),
    Rule("cusparse", NO, "gemm", "cusparse",
         r"\bcusparse::(?!\w*(?:bell|blocked))\w*|\bcsrmm|\bcsrmv|\bcsr\w*_kernel|\bcsrgemm", "@types",
         note="sparse products by rows on CUDA cores", words="csr cusparse::"),
    Rule("cusparse-block", UNKNOWN, "gemm", "cusparse", r"\bcusparse::", "@types", words="cusparse::"),
    Rule("cufft", NO, "other", "cufft",
         r"\b(?:regular|vector|composite_?\w*|multi_bluestein|bluestein|spRadix\w*|dpRadix\w*|c2c|r2c|c2r)_fft\w*"
         r"|\b(?:sp|dp)Radix\d+\w*|\bregular_bluestein|_fft_kernel|\bfft_\w*kernel|\b(?:prime|regular|vector)_fft\w*"
         r"|\b(?:real|complex)_?\w*_fft_\w*", "@types", words="_fft fft_ radix regular_bluestein"),
    Rule("cublas-geam", NO, "copy", "cublas", r"\bregion_transform_ABC|^geam_kernel$", "@types",
         note="sums of two matrices, or one of them transposed: cublasSgeam", words="region_transform_abc geam_kernel"),
    Rule("cublas-other", UNKNOWN, "gemm", "cublas", r"\bcublas(?:Lt)?::|^cublas", "@types", words="cublas"),
)  # fmt: skip
