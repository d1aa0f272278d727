"""Libraries of graphs, points, images, search and older frameworks that call cuBLAS for products, if for anything.

The sources of most were searched: no kernel of these namespaces holds an instruction of matrix units but some whose
names have a product's word, and those are not believed. cuDF, DALI, Caffe and OpenCV are here by what they are for.
"""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, Rule

RULES: Final = (
    Rule("minkowski-product", NO, "convolution", "minkowski_engine",
         r"^minkowski::(?:\w+::)*matmul\w*", "@types", note="FP32 and FP64 on CUDA cores", words="minkowski::"),
    Rule("library-copy", NO, "copy", "@namespace",
         r"^(?:dgl|graphbolt|minkowski|faiss|lightseq|fastertransformer|nvinfer1|ctranslate2"
         r"|tensorrt_llm::common|mxnet"
         r"|mshadow|cudf|dali|caffe|oneflow|cv|paddle)::(?:\w+::)*\w*(?i:copy|cpy|cast|transpose|permute|concat|slice"
         r"|pad|arrange|im2col)\w*", "@types", words="arrange cast concat copy cpy im2col pad permute slice transpose"),
    Rule("library-other", NO, "other", "@namespace",
         r"^(?:dgl|graphbolt|minkowski|faiss|gsplat|higs|lightseq|fastertransformer|nvinfer1|ctranslate2"
         r"|tensorrt_llm::common|mxnet|mshadow|cudf|dali|caffe|oneflow|paddle|flashinfer::(?:sampling|norm"
         r"|activation|da_moe|trtllm_\w+)|turbomind(?!::gemm))::|^cv::", "@types",
         note="a library that leaves products to cuBLAS", of_rest=True,
         words="caffe ctranslate2 cudf cv:: dali dgl faiss fastertransformer flashinfer:: graphbolt gsplat higs "
               "lightseq minkowski mshadow mxnet nvinfer1 oneflow paddle tensorrt_llm::common turbomind"),
    Rule("custatevec", NO, "elementwise", "custatevec",
         r"^(?:custatevec|cusvex)::(?!\w*(?:[mM]atAppl|MatExpect|matmulKernel_\d))\w+$", "@types",
         note="amplitudes one by one; matrices of several qubits are applied by kernels of their own",
         knows_better=True,
         words="custatevec cusvex"),
    Rule("library-searched", NO, "other", "@namespace",
         r"^(?:kaolin|ngp|wp|cuBQL|marian|kaldi|HugeCTR(?!::dotBased)|nbla|arrayfire|LightGBM|cuopt|open3d|xgboost"
         r"|k2|gko|gmx|nv::merlin|dyn_emb|nvcv|cvcuda|dietgpu|matx|dh|amrex|nvjpeg|culj92|jax::cuda|csrc::sparse"
         r"|csrc::hash|NKernel|cugraph::detail|raft::sparse|cuvs::neighbors::ball_cover|dali::kernels|gpu_treeshap)::"
         r"|^matxOpT\d\w*Kernel\w*$|^embedding::\w*wgrad_\w*(?:idx|indices|attr_calculation)_\w*kernel$"
         r"|^nvinfer1::plugin::(?:attention"
         r"(?:QueryGemv|Energy|NormalizeAndSum|Convolution)|projection)Kernel$", "@types",
         note="no kernel of its source holds an instruction of matrix units", knows_better=True, of_rest=True,
         words="kaolin ngp:: wp:: cubql marian kaldi hugectr nbla arrayfire lightgbm cuopt open3d xgboost k2:: gko:: "
               "gmx:: merlin:: dyn_emb:: nvcv:: cvcuda:: dietgpu:: matx dh:: amrex:: nvjpeg:: culj92:: jax::cuda:: "
               "csrc:: nkernel:: dali::kernels:: gpu_treeshap:: cugraph::detail raft::sparse ball_cover "
               "embedding:: nvinfer1::plugin"),
    Rule("sparse-indices", NO, "other", "spconv",
         r"(?:^|::)(?:prepare(?:SubM|DeConv)?(?:Indice|Grid)\w*|assign(?:Indice|Grid)\w*|reset\w*Grid\w*)Kernel\w*$",
         note="spconv's pairs of inputs and outputs", knows_better=True, words="indice grid"),
    Rule("interpolation", NO, "other", "@namespace",
         r"(?i)(?:interp|resiz|sampl|upscal|texture|voxel|warp_|lut_|blend|embed)\w*linear|linear\w*(?:interp|resiz"
         r"|sampl"
         r"|texture"
         r"|mipmap|voxel|blend|embed)", "@types", note="values between the points of a grid", knows_better=True,
         words="linear"),
    Rule("matrix-by-elements", NO, "other", "@namespace",
         r"(?i)(?:^|_|::)(?:matrix_?diag|(?:as|build|construct|compute)\w*_?matrix)(?!\w*(?:mul|prod|mm))\w*$",
         "@types", note="what is done to a matrix is told, and it is no product", knows_better=True, words="matri"),
    Rule("convolution-state", NO, "convolution", "custom", r"(?i)conv_?(?:state|cache|checkpoint)s?(?![a-z])",
         "@types", note="the last columns that a short convolution keeps", knows_better=True, words="conv"),
    Rule("julia-line", NO, "other", "julia", r"_jl_L\d+$", note="CliMA names kernels after their line",
         words="_jl_l"),
    Rule("julia-abstraction", NO, "other", "julia", r"^(?:_Z\d+)?gpu_\w+", "@types", r"CompilerMetadata",
         note="KernelAbstractions, which has no instruction of matrix units", words="gpu_"),
    Rule("julia-broadcast", NO, "elementwise", "julia",
         r"\b(?:gpu_|_Z\d+)?(?:gpu_)?broadcast_kernel(?:_linear|_cartesian)?", "@types",
         r"CuKernelContext|CompilerMetadata|(?:Cu|ROC|one|Mtl)DeviceArray", note="GPUArrays: one element at a time",
         words="broadcast_kernel"),
    Rule("julia-reduction", NO, "reduction", "julia",
         r"\b(?:_Z\d+)?partial_mapreduce_(?:grid|device)", "@types",
         r"(?:Cu|ROC|one|Mtl)DeviceArray", words="partial_mapreduce_"),
    Rule("npp", NO, "other", "npp",
         r"_(?:8u|16[usf]|32[usf]|64[usf])(?:_(?:A?C\d\w*|P\d\w*|[A-Z][a-z]+))?$|Watershed|^(?:(?:Label"
         r"|Compress)\w*Markers?|ForEach\w*(?:Cell|Tuple|Image)\w*|FloodFill)",
         note="NPP's functions on images, named after their pixels", knows_better=True,
         words="_8u _16u _16s _16f _32u _32s _32f _64u _64s _64f watershed marker floodfill foreach"),
    Rule("rapids", NO, "other", "rapids",
         r"^(?:raft|cuvs|cuml|ML|MLCommon|UMAPAlgo|cugraph|rmm)::(?!.*(?i:contraction|gemm|pairwise|distance|nn_?kernel"
         r"|l2nn|svd|eig"
         r"|solver|pq_|cagra|ivf))", "@types",
         note="graphs, trees, selection and statistics; distances may be products, and are left out", of_rest=True,
         words="raft:: cuvs:: cuml:: ml:: mlcommon:: umapalgo:: cugraph:: rmm::"),
    Rule("warp", NO, "other", "warp", r"^(?!.*(?:tile|gemm|matmul|mlp))\w+_[0-9a-f]{8}_cuda_kernel_(?:for|back)ward$",
         note="Warp multiplies matrices in tiles only", knows_better=True, words="_cuda_kernel_"),
    Rule("numba", NO, "other", "numba", r"^(?:cudapy|__main__)::\w+", "@types",
         note="Numba has no instruction of matrix units", knows_better=True, words="cudapy:: __main__::"),
    Rule("splatting", NO, "other", "gsplat",
         r"^(?:image_points_to_(?:camera|world)_rays|rasterize_to_\w+|projection_(?:ewa|2dgs|ut)_\w+"
         r"|spherical_harmonics|se3pose|quat_)\w*", "@types", note="geometry of splats, point by point",
         words="image_points_to_ projection_ quat_ rasterize_to_ se3pose spherical_harmonics"),
    Rule("llm-c-product", NO, "gemm", "custom",
         r"^(?:attention_(?:forward|query_key|value)_kernel\d|matmul_forward_kernel\d)$", "fp32",
         note="llm.c's first steps: FP32 by elements", words="attention_ matmul_forward"),
    Rule("llm-c-helper", NO, "reduction", "custom",
         r"^(?:matmul_backward_bias_kernel\w*|attention_softmax_kernel\d)$", "@types", knows_better=True,
         note="sums the gradient of a bias; softmax between two products",
         words="matmul_backward_bias attention_softmax"),
    Rule("moves-of-attention", NO, "copy", "@namespace",
         r"^(?:\w+::)*(?!_fused_gather_attn)_?(?:fused_)?(?:concat|copy|store|set|get|append|gather|scatter|fill"
         r"|init|pack|build|save|swap"
         r"|reset"
         r"|create|assign|clear|clean|quantize|finalize|update)_(?!\w*(?:gemm|matmul|_mm|conv|dot|proj|mlp"
         r"|ffn|linear|fwd|bwd|forward|backward"
         r"|softmax|score|logit|weight|prob))\w*(?:attn|attention|flashmla|mla|mha|mqa|gqa|nsa|kv"
         r"|experts?)(?![a-z])\w*$",
         "@words or types", note="what is moved for attention or experts, not their products", knows_better=True,
         words="attn attention mla mha mqa gqa nsa kv expert"),
    Rule("merge-of-attention", NO, "attention", "@namespace",
         r"^(?:\w+::)*_?merge_(?!\w*(?:fwd|bwd|forward|backward))\w*(?:attn|attention|mla)\w*$", "@types",
         note="one result of the parts of a split attention", knows_better=True, words="merge_"),
    Rule("made-for-product", NO, "copy", "@namespace", r"_for_(?:cutlass|deep_?gemm|marlin|gemm|fmha)(?:_\w+)?$",
         "@words or types", note="what it makes is for a product", knows_better=True, words="_for_"),
    Rule("attention-mask", NO, "elementwise", "@namespace",
         r"(?:^|::)(?:build|create|get|make|local)\w*(?i:att(?:entio)?n)_?(?i:mask|bias)s?\w*|(?:^"
         r"|::)(?:ker_)?attn_softmax(?:_\w+)?$|(?:^|::)ker_(?:arrange|attention_mask|transform_0213)\w*"
         r"|(?:^|::)add(?:Bias|Relative)Attention\w*|(?:^|::)longformerMHASoftmax\w*|(?:^|::)normalize_for_FMHA_\w+"
         r"|(?:^|::)_?\w*attn_mask_to_\w+|(?:^|::)transform(?:4d)?_0213\w*|(?:^|::)\w*Attention\w*Metadata\w*"
         r"|(?:^|::)FP8TransposeAttentionOut\w*|(?:^|::)_?attn_res_(?:fwd|bwd)_kernel$",
         "@types", note="masks, biases, softmax and layouts of attention whose products run elsewhere",
         knows_better=True, words="mask bias attn_softmax attention ker_ softmax fmha 0213 attn_res"),
    Rule("matrix-helper", NO, "copy", "@namespace",
         r"(?:^|::)_?(?!\w*(?i:gemm|mult|mul_|mm(?:_|$)))\w*?(?i:(?:quantize|scale|transpose|initiali[sz]e|init|copy"
         r"|cast|print|fill|compare|norm|add|random|reduce)_?matri(?:x|ces)|matri(?:x|ces)_?(?:transpose|copy|fp\d+_to"
         r"|add|scale|init"
         r"|norm|fill))\w*$", "@types",
         note="what is done to a matrix is told, and it is no product", knows_better=True, words="matri"),
    Rule("apex-mlp-helper", NO, "elementwise", "apex", r"^(?:biasAdd(?:Relu)?|Relu|Sigmoid)_[fb]prop$", "@types",
         note="bias and activation of a perceptron whose products run in cuBLAS", knows_better=True, words="prop"),
    Rule("tensorrt-plugin", NO, "other", "tensorrt",
         r"^(?:EfficientNMS\w*|skipln\w*|embLayerNorm\w*|[dq]\w*[qQ]ua(?:n)?tizeVector\w*|pReLUKernel|PerClassNMS\w*"
         r"|cropAndResize\w*|priorBoxKernel|gridAnchor\w*|ms_deformable_\w+|modulatedDeformableIm2col\w*"
         r"|specialslice\w*"
         r"|resample(?:BBox)?_kernel|activateKernel|reorgKernel|postprocess_kernal"
         r"|decode_bboxes_kernel\w*)$", "@types",
         note="plug-ins: detection, sampling, norms and layouts", knows_better=True,
         words="efficientnms skipln emblayernorm tizevector prelukernel perclassnms cropandresize priorbox gridanchor "
               "deformable specialslice resample activatekernel reorgkernel postprocess_kernal decode_bboxes"),
    Rule("llm-c", NO, "embedding", "custom",
         r"^(?:encoder_(?:forward|backward)_kernel\d*|w[pt]e_backward_kernel|init_from_master_kernel)$", "@types",
         note="llm.c's look-up of tokens and positions", knows_better=True,
         words="e_backward_kernel encoder_ init_from_master_kernel"),
    Rule("llm-c-loss", NO, "reduction", "custom", r"^fused_classifier_kernel\d*$", "@types", knows_better=True,
         note="llm.c's softmax with its loss", words="fused_classifier_kernel"),
)  # fmt: skip
