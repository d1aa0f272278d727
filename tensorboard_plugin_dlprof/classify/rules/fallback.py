"""Names that no library's table knows, most of them users' own kernels: judged by the words in them.

A word that stands for a product (``matmul``, ``conv``, ``attention``) makes the answer unknown: nothing tells whether a
user's kernel multiplies on matrix units. A word for something that is no product (``relu``, ``softmax``, ``transpose``)
makes it no. Words count only between word boundaries, underscores or changes of case.
"""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule


def _by_words(
    name: str, matrix_unit: MatrixUnit, family: str, text: str, precision: str = "", pattern: str = "", words: str = ""
) -> Rule:
    """A rule for names with any of the words in ``text``, standing by itself in ``snake_case`` or ``CamelCase``;
    or with what ``pattern`` matches, which needs one of ``words``."""
    lower = "|".join(text.split())
    camel = "|".join(word[0].upper() + word[1:] for word in text.split())
    head = (
        rf"(?:(?<![A-Za-z])(?:{lower}|{camel})(?![a-z])|(?<=[a-z0-9])(?:{camel})(?![a-z])"
        rf"|(?<![A-Za-z])(?i:{lower})(?![A-Za-z]))"
    )
    return Rule(name, matrix_unit, family, "custom", head + pattern, precision, words=f"{text} {words}")


_PLAIN_PARAMETERS: Final = (
    r"^(?:void )?(?:[\w:]*\(anonymous namespace\)::)?[\w:]+"
    r"(?:<(?:\((?:int|bool|unsigned int)\)|\b(?:\d+|true|false|float|int|long)\b|[=, ])+>)?"
    r"\((?=\w)(?:\b(?:float[23]?|uint|ulong|unsigned|int|short|long|bool|size_t|u?int(?:16|32|64)_t|clock_t"
    r"|cuda(?:Texture|Surface)Object_t|const|__restrict(?:__)?|restrict)\b|[*&, ])+\)$"
)
"""Parameters that no matrix unit multiplies. Vectors of four are left out: they are often 16 bytes of other things."""

RULES: Final = (
    Rule("triton-attention-by-name", YES, "attention", "triton",
         r"^(?!\w*(?:reduc|merge|meta|sched|quantize|store|rope|copy|scatter|gather_(?!attn)|indices|length|prepare"
         r"|prep_|update|init|mask|_gate|_res_|combine|process|build|create|_get_|_set_|transpose|naive|softmax|norm"
         r"|states|topk|pool|expand|to_dense|epilogue|prologue))"
         r"(?:_(?:\w+_)?(?:(?:sparse|segmented|varlen|lean|gather)_att(?:n|ention)|sparse_(?:paged_)?(?:mla|[gm]qa)|qsa_mqa"
         r"|(?:attn|attention|mla|mha|gqa|mqa)_(?:\w+_)?(?:prefill|extend|compute_splits|logits)"
         r"|(?:prefill|dsa_decode)_(?:\w+_)?(?:attn|attention|mla|mha|gqa|mqa)"
         r"|index(?:er)?_(?:block_)?(?:score|logits)|(?:paged|direct|context|decode|prefill|index)_(?:block_)?scores?"
         r"|score_shard|bwd_(?:dkdv|dkv|dq))|(?:kernel_)?(?:\w+_)?unified_attention|parallel_(?:stickbreaking_)?attn"
         r"|mlstm_(?:\w+_)?(?:parallel|recurrent)_[fb]w)(?:_\w+)?$", "@words", r"^\w+$",
         note="Triton's attention by many queries or of many heads, and the scores of its indexer: tl.dot",
         knows_better=True, words="attn attention mla gqa mqa mha score logits bwd_d mlstm_"),
    Rule("triton-product-by-name", YES, "gemm", "triton",
         r"^(?!\w*(?:args|norm|router|fp32|float|reduc|finali|complete|quant|gemv|prep|process|post|meta|sched|sparse|bias|scatter"
         r"|gather|mask|init|copy|combine|merge|naive|vec|small_?(?:m|batch)|per_row|tail|starts|_m1_|desc|swizzle"
         r"|pointer|ptr|layout|(?<!shuffled_)(?<!weight_)scale|routing|grad_|_pre_|epilogue|prologue))"
         r"(?:_(?:\w+_)?(?:gemm|matmul|bmm|(?:scaled|batched|add)_?mm|proj(?:ection)?)(?:_\w+)?"
         r"|_?(?:\w+_)?group(?:ed)?_(?:gemm|mm|matmul)(?:_tma)?(?:_d[wx])?(?:_triton)?_kernel"
         r"|_?(?:\w+_)?lora_(?:shrink|expand)(?:_\w+)?|_fused_moe_lora_kernel_fp8"
         r"|triton_(?!poi|red|per|tem|for|spl|unk|mix|mm)(?:\w+_)?gemm_kernel)$", "@words", r"^\w+$",
         note="a product called as Triton's are, by a name of Python's: tl.dot", knows_better=True,
         words="gemm matmul mm lora_ proj"),
    Rule("beside-short-convolution", NO, "convolution", "custom",
         r"(?:^|_)s?conv_(?:states?|windows?|cache|indices|bias_epilogue|residual_norm|writeback|prepare|finish"
         r"|publish)(?:_|$)|(?:^|_)(?:post|ple|track)_conv(?:_|$)|^_fused_sconv_kernel$|^wigner_(?:inv_)?conv\d_\w+",
         "@types", r"^\w+$",
         note="state and rows of convolutions of a few taps, and their steps; turns of fairchem's", knows_better=True,
         words="conv"),
    Rule("plan-by-name", NO, "other", "custom",
         r"^_?\w+_(?:indices(?:_and_lens)?|metadata|lengths|pages|page_table|slot_mapping|(?:cache|tail|recent)_write"
         r"|replay_commit)"
         r"(?:_kernel|_triton)*$", "@types", r"^\w+$", note="where what is multiplied lies, or its store",
         knows_better=True, words="indices metadata lengths pages page_table slot_mapping _write replay_commit"),
    Rule("elementwise-by-name", NO, "elementwise", "custom",
         r"^_?(?:rad2deg|deg2rad|round|var|outer|tile|full_tensor|swish|i0e?|special_\w+|xlog1py|multiply_t[st]|fht)_+"
         r"(?:\w+_)?kernel(?:_\w+)?$|^_fht_\w+$", "@types", r"^\w+$", note="FlagGems' names of functions of PyTorch",
         words="rad deg round var outer tile full_tensor swish i0 special_ xlog1py multiply_t fht"),
    Rule("triton-other", UNKNOWN, "other", "triton",
         r"^triton_(?!\w*gemv)", words="triton_",
         note="a user's kernel, or a form of Inductor's that is not known"),
    Rule("word-matrix-instruction", YES, "gemm", "custom",
         r"(?i)^(?!.*(?:reduce|init|convert|compar|check|transpose|verif|print|quanti[sz]e_|pack_|copy))"
         r".*(?:^|_)w?mma_?(?:m\d+n\d+k\d+|\d+x\d+)", "@instruction of users", knows_better=True,
         note="the shape of the instruction stands in the name", words="mma"),
    Rule("word-tensor-core", YES, "gemm", "custom",
         r"(?i)^(?!.*(?:reduce|init|convert|compar|check|transpose|verif|print|quanti[sz]e_|pack_|copy|wo_mma|no_mma))"
         r".*(?:(?:tensor|matrix)_?core|wmma|wgmma|tcgen05|mma_?sync|mma_m16n8|(?:^|_)[hi]?mma(?:_|(?-i:[A-Z])|$)"
         r"|ldmatrix)",
         "@instruction of users",
         note="the name says so", words="ldmatrix mma sync tcgen05 tensor matrix_core matrixcore"),
    Rule("word-naive-product", NO, "gemm", "custom",
         r"(?i)^(?!.*(?:tf32|mma|tensor|b?f16|half|lora)).*(?:(?:naive|basic|coalesc\w*|global_?mem|shared_?mem"
         r"|cuda_?core"
         r"|simt)_?\w*(?:mat_?mul|gemm|mm)(?:_|\b)"
         r"|(?:mat(?:rix)?_?mul|[sd]gemm)_?(?:naive|basic|coalesc\w*|global|smem|shared)\w*|(?<![a-z])sgemm(?:_\w+"
         r"|\d?(?-i:[A-Z])\w*)?$)",
         "@types", r"\(|gemm|^(?i:(?!.*(?:naive|basic)))",
         note="FP32 products of tutorials in CUDA C++, without matrix units; a naive one of Triton has tl.dot, and no"
         " parameters in its name; of LoRA, sgemm stands for segments",
         words="basic coalesc cuda global naive sgemm shared simt smem"),
    Rule("word-cuda-core", NO, "gemm", "custom",
         r"(?i:(?<![a-z])cuda_?cores?(?![a-z]))|(?<![A-Za-z])(?:simt|Simt|SIMT)(?![a-z])", "@words or types",
         knows_better=True, note="the name says so", words="cudacore cuda_core simt"),
    Rule("conversion", NO, "copy", "custom",
         r"^(?:\w+::)*(?:k_|kernel_|cuda|convert_)?_?(?i:float|half|double|int8|fp\d+|f16|f32|f64|bf16|lowp)_?"
         r"(?:2|_to_)_?(?i:float|half|double|int8|fp\d+|f16|f32|f64|bf16|lowp)(?:_\w*)?$|^cudaD2Dcpy\w+"
         r"|(?<![a-z])n?(?:chw|hwc|cdhw|dhwc)_?(?:to|2)_?(?:n?(?:chw|hwc|cdhw|dhwc)|nc|tok)(?![a-z])", "@types",
         note="one type or layout to another", knows_better=True,
         words="float half double int8 fp f16 f32 f64 lowp d2dcpy chw hwc"),
    Rule("complex-numbers", NO, "elementwise", "custom",
         r"^(?:\w+::)*(?:k_|kernel_?)?[cC]omplex_?(?:[pP]ointwise_?)?(?:[mM]ul(?:t|tiply|tiplication)?|[pP]roduct)"
         r"(?:_?(?:[aA]nd_?)?[sS]cale)?(?:_?[kK]ernel)?$", "@types",
         note="each complex number by another, as between two Fourier transforms", knows_better=True, words="complex"),
    Rule("matrix-by-vector", NO, "gemm", "custom",
         r"^(?!.*(?i:mma|tensor_?core|gemv_batch|e8p|exl3|quip|router_gemv)|_fp8_).*(?:(?:^|_|::"
         r"|[a-z0-9])(?:[sdczh]?gemv|Gemv|GEMV"
         r"|[Mm]at_?[Vv]ec"
         r"|vecmat)(?![a-z]))", "@words or types", knows_better=True,
         note="a product of a matrix and a vector reads each number once: matrix units gain nothing, and few use them",
         words="gemv matvec mat_vec vecmat"),
    Rule("word-warp-specialised", YES, "gemm", "custom",
         r"(?i)^(?!.*(?:args|pre_?compute|quant|update|desc(?!riptor_persistent)|init|pack|reduc|combin|merge|transpos|meta"
         r"|schedul|copy|rope|cache|norm"
         r"|softmax|ptr|pointer|notify|vec|gemv|route|simt|naive|sgemm|fp32|float|starts))(?=.*(?:gemm|matmul|bmm_))"
         r".*(?:warp_?speciali[sz]|_ws(?:_|$)|hopper|blackwell|sm_?(?:90|100|120)(?!\d)|gfx(?:9[45]\d|1250)|(?:^"
         r"|_)tma(?:_|$)"
         r"|persistent)", "@words or types",
         note="a product built for the GPU's asynchronous matrix instructions", knows_better=True, of_rest=True,
         words="gemm matmul bmm"),
    Rule("word-triton-product", YES, "gemm", "triton",
         r"^_(?!_|\w*(?:quant_|dequant|reduce|combine|post|pre_|tail|scatter|bias|meta|args|routing|vec|starts"
         r"|_m1(?!\d)))"
         r"(?:\w*_)?(?:(?:mx|nv)?(?:fp8|fp4|bf16|fp16|int8|a\d+w\d+|w\d+a\d+)_(?:\w*_)?(?:gemm|matmul|bmm|mm|linear)"
         r"|(?:gemm|matmul|bmm)_a\d+w\d+)(?:_\w+)?$",
         "@words", r"^\w+$", note="a Triton product of narrow types: tl.dot", knows_better=True, of_rest=True,
         words="gemm matmul mm linear"),
    Rule("samples-product", YES, "gemm", "custom", r"^compute_gemm(?:_imma)?$", "@words or types",
         r"\((?:__half|half|__nv_bfloat16|unsigned char)\b", note="CUDA's samples for Tensor Cores: wmma",
         words="compute_gemm"),
    Rule("plain-product", NO, "gemm", "custom",
         r"(?i)^(?:\w+::)*(?:kernel_?|k_|gpu_?|cuda_?|device_?|d_)?(?:mat(?:rix)?_?mul(?:t(?:iply|iplication)?)?|s?gemm"
         r"|mm)(?:_?(?:kernel|gpu|cuda|device|til(?:ed?|ing)|block(?:ed|ing|s)?|shared|smem|global|mem(?:ory)?"
         r"|opt(?:imi[sz]ed)?"
         r"|fast|simple|transposed?|coarse(?:ned)?|vec(?:torized)?|unroll(?:ed)?|float4?|f(?:p)?32|v?\d+d?|[abknt]))*$",
         "fp32", r"(?=.*\bfloat\b[^,]*\*)" + _PLAIN_PARAMETERS,
         note="a product of FP32 numbers by itself: those that take them as TF32 say so",
         words="mul gemm mm"),
    Rule("naive-half-product", NO, "gemm", "custom",
         r"(?i)^(?!.*(?:mma|tensor|cute)).*(?:h|s)gemm_(?:naive|sliced_k|t_\d+x\d+_sliced)\w*$", "@types",
         r"\((?:const )?(?:half|__half|float) ?(?:const )?\*",
         note="tiles of tutorials in CUDA C++ that name no instruction", words="gemm_"),
    Rule("separable-convolution", NO, "convolution", "custom", r"(?i)convolution_?(?:rows?|columns?)(?:_?kernel)?\w*$"
         r"|separable_?convol|convolve\d?_separable",
         "@types", note="one line of taps after the other", words="convol"),
    Rule("dot-of-vectors", NO, "reduction", "custom",
         r"(?i)^(?!.*(?:scaled|attention|softmax)).*(?:^|_)(?:dot|scalar)_?prod(?:uct)?(?![a-z])", "@types",
         r"\((?:const )?(?:half2?|__half2?|float|double) ?(?:const ?)?\*", knows_better=True,
         note="two vectors of bare numbers: a sum", words="dot prod"),
    Rule("to-dense", NO, "copy", "custom", r"(?<![A-Za-z])(?:to_dense|dense_\w*to_(?:ragged"
         r"|sparse|jagged|csr))(?:_|$)"
         r"|(?:To|2)Dense(?![a-z])",
         "@types", knows_better=True, note="one layout to another", words="dense"),
    Rule("dense-gradient", NO, "embedding", "@namespace", r"embedding_(?:bag_)?dense", "@types", knows_better=True,
         note="the gradient of a table, kept dense", words="embedding"),
    _by_words("word-attention", UNKNOWN, "attention",
         "attention attn mha fmha sdpa flash gqa mqa mla"),
    _by_words("word-normalisation", NO, "normalisation",
         "norm rms layernorm rmsnorm qknorm batchnorm groupnorm normalize ln bn", "@types"),
    _by_words("word-softmax", NO, "softmax",
         "softmax logsumexp sparsemax xentropy", "@types"),
    _by_words("word-convolution", UNKNOWN, "convolution",
         "conv conv1d conv2d conv3d convolution convolve fprop dgrad wgrad deconv",
         "@words or types"),
    _by_words("word-product", UNKNOWN, "gemm",
         "gemm matmul mm bmm dot gmm mlp linear fc einsum contraction matrixmul mma matrix mul_mat "
                "lora sgmv bgmv expand_kernel shrink_kernel ffn spmm",
         "@words or types"),
    _by_words("word-collective", NO, "collective",
         "allreduce allgather all_reduce all_gather reduce_scatter broadcast_nvl p2p sendrecv"),
    _by_words("word-optimizer", NO, "optimizer",
         "adam adamw adagrad adadelta nesterov rmsprop sgd optimizer muon lion momentum unscale", "@types"),
    _by_words("word-embedding", NO, "embedding",
         "embedding gather scatter index lookup embed onehot", "@types"),
    _by_words("word-sort", NO, "sort",
         "sort sorting topk argsort unique", "@types"),
    _by_words("word-random", NO, "random",
         "random rand rng dropout bernoulli", "@types"),
    Rule("word-memory", NO, "memory", "custom",
         r"(?i)^(?:memset|memcpy|fill_?buffer|copy_?buffer)\w*|^memset\d*_\w*|^memcpy\w*",
         words="buffer memcpy memset"),
    Rule("word-batched-transpose", NO, "copy", "custom", r"(?:^|::)batched_transpose(?:_kernel)?$", "@types",
         knows_better=True, note="what is batched is told: it only moves", words="batched_transpose"),
    _by_words("word-copy", NO, "copy",
         "copy transpose permute unpermute cast upcast downcast convert concat cat split slice pad pack unpack "
                "reorder im2col col2im shuffle unshuffle move identity stack layout reshape remap interleave "
                "deinterleave",
         "@types",
         r"|(?i:(?<![a-z])(?:float|half|double|int8|fp\d+|bf16)_?2_?(?:float|half|double|int8|fp\d+|bf16))",
         words="float half double int8 fp bf16"),
    _by_words("word-reduction", NO, "reduction",
         "reduce reduction sum mean max min argmax argmin scan cumsum prefix histogram loss entropy "
                "amax count kldiv tvd",
         "@types"),
    _by_words("word-elementwise", NO, "elementwise",
         "add sub mul div scale bias relu gelu silu sigmoid tanh exp pow sqrt saxpy daxpy axpy axby "
                "elementwise pointwise tril triu vecadd vectoradd vadd fill init zero set clamp where mask activation "
                "act swiglu rope rotary quantize quant dequantize dequant increment negate abs square fma "
                "map update initialize sleep spin noop empty nop null delay unary binary modulate sinkhorn "
                "softplus correction angle deq qdq addcmul",
         "@types"),
    _by_words("word-other", NO, "other",
         "pool pooling maxpool avgpool resize interp upsample upscale filter blur sobel hash decode encode "
                "barrier wait signal offsets metadata pointers stencil ray mandelbrot sampling sample "
                "kalman integrate bfs routing fft coord align texture rasterize interpolate coords coordinates bbox "
                "bboxes box boxes rays camera pose "
                "hashmap mapping voxel voxels voxelize devoxelize nms anchor anchors penalty penalties pens beam "
                "viterbi "
                "bitmask ids indices indptr slot slots page pages segment segments jagged swizzle unswizzle producer "
                "consumer counter notify spin tokens ngram resample shift jsd miss "
                "neighbor neighbors face faces normals pdf kthvalue rgb rgba bgr hsv yuv push flip iota knn hist "
                "spmv dump sequential tid tables lens lengths",
         "@types", r"|IoU", "iou"),
    Rule("plain-types", NO, "other", "custom", r"^(?!.*(?:(?i:tf_?32)|884|1688|16816))[A-Za-z_]", "@types",
         _PLAIN_PARAMETERS, by_types=True,
         note="matrix units multiply none of its parameters, FP32 and integers of 16 bits and more, but as TF32"),
    Rule("word-unlisted", NO, "other", "custom", r"^(?!std::)\w*[A-Za-z]", "@types",
         r"^(?!.*(?i:gemm|(?<!ga|su|co)mma|attention|cutlass|cute::|mfma|flash(?!infer))|[^<(]*[<(].*(?i:conv)(?!er))",
         note="nothing in its name is of a product: of 1,400 public kernels that only this rule knows, two multiply"),
    Rule("no-rule", UNKNOWN, "other", "", "", "@types", note="no rule knows this name"),
)  # fmt: skip
