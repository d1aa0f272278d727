"""Kernels that a compiler named: Triton through Inductor, nvFuser, XLA, Myelin. First, as they quote op names."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, YES, Rule

RULES: Final = (
    # Inductor. A pointwise, reduction, persistent-reduction, split-scan or foreach kernel holds no ``tl.dot``, whatever
    # ops its name lists: ``addmm`` in it is the epilogue. Templates hold one, of operands the name does not tell; on
    # FP32 operands ``tl.dot`` may be asked for IEEE precision, which runs on CUDA cores.
    Rule("inductor-optimizer", NO, "optimizer", "triton", r"^triton_for_", note="foreach kernels", knows_better=True,
         words="triton_for_"),
    Rule("inductor-softmax", NO, "softmax", "triton", r"^triton_(?:red|per)_\w*softmax", knows_better=True,
         words="triton_"),
    Rule("inductor-normalisation", NO, "normalisation", "triton", r"^triton_(?:red|per|poi)_\w*(?:norm|rsqrt)",
         knows_better=True, words="triton_"),
    Rule("inductor-embedding", NO, "embedding", "triton",
         r"^triton_(?:poi|red|per)_fused_(?:embedding|index|gather|scatter)", knows_better=True, words="triton_"),
    Rule("inductor-copy", NO, "copy", "triton",
         r"^triton_poi_fused_(?:(?:clone|_?to_copy|copy|copy_|transpose|view|permute|cat|expand|slice|t"
         r"|convert_element_type|constant_pad_nd|_unsafe_view|split|unsqueeze|squeeze|select)_)*(?:\d+)?$",
         knows_better=True, words="triton_poi_fused_"),
    Rule("inductor-pointwise", NO, "elementwise", "triton", r"^triton_poi_", knows_better=True, words="triton_poi_"),
    Rule("inductor-reduction", NO, "reduction", "triton", r"^triton_(?:red|per|spl|mix)_", knows_better=True,
         words="triton_"),
    Rule("inductor-attention-template", UNKNOWN, "attention", "triton",
         r"^triton_(?:tem_)?\w*(?:flex_|attention)",
         note="FlexAttention multiplies with tl.dot; the name does not tell the operands' type", words="triton_"),
    Rule("inductor-convolution-template", UNKNOWN, "convolution", "triton", r"^triton_(?:tem_)\w*conv",
         words="triton_"),
    Rule("inductor-template", UNKNOWN, "gemm", "triton",
         r"^triton_tem_|^triton_(?:mm|bmm(?!_pool_sim)|addmm|mm_plus_mm|scaled_mm)(?:_|$)",
         note="a matrix product by tl.dot; the name does not tell whether FP32 operands were asked for in IEEE "
              "precision", words="triton_"),
    # XLA emits Triton code under these names.
    Rule("xla-triton-softmax", NO, "softmax", "xla", r"^triton_softmax", knows_better=True, words="triton_softmax"),
    Rule("xla-triton-gemm", UNKNOWN, "gemm", "xla",
         r"^triton_gemm|^(?:nested_)?gemm_fusion|^triton_dot|^__triton_nested_gemm_fusion",
         words="gemm_fusion triton_dot triton_gemm"),
    Rule("triton-signal", NO, "collective", "triton", r"^triton_(?:wait|put|send)_\w*signal\w*", words="triton_"),
    Rule("triton-table-batched-embedding", NO, "embedding", "triton", r"^triton_tbe_", note="TorchRec's tables",
         words="triton_tbe_"),
    Rule("torchao-fp8-product", YES, "gemm", "triton", r"^triton_fp8_gemm_\w+_kernel$", "fp8",
         note="tl.dot of FP8 operands", words="triton_fp8_gemm_"),
    Rule("torchao-fp8-quantise", NO, "elementwise", "triton",
         r"^triton_fp8_blockwise_(?:act|weight)_quant_\w+$|^_triton_fp8_per_group_\w+_kernel$", "fp8",
         note="scales of blocks", knows_better=True, words="triton_fp8_blockwise_ triton_fp8_per_group_"),
    # nvFuser.
    Rule("nvfuser-matmul", YES, "gemm", "nvfuser", r"\bnvfuser_(?:matmul|hopper_matmul|mma|ampere_matmul)", "@types",
         words="nvfuser_"),
    Rule("nvfuser-normalisation", NO, "normalisation", "nvfuser",
         r"\bnvfuser_(?:inner|outer|inner_outer)_persistent", "@types",
         note="the persistent schedulers serve normalisations and softmax", knows_better=True, words="_persistent"),
    Rule("nvfuser-reduction", NO, "reduction", "nvfuser", r"\bnvfuser_reduction", "@types", knows_better=True,
         words="nvfuser_reduction"),
    Rule("nvfuser-copy", NO, "copy", "nvfuser", r"\bnvfuser_(?:transpose|resize|no_?op)", "@types", knows_better=True,
         words="nvfuser_"),
    Rule("nvfuser-pointwise", NO, "elementwise", "nvfuser", r"\bnvfuser_pointwise|^CudaCodeGen::", "@types",
         knows_better=True, words="cudacodegen:: nvfuser_pointwise"),
    Rule("nvfuser-other", UNKNOWN, "other", "nvfuser", r"\bnvfuser_", words="nvfuser_"),
    # PyTorch's older fusers: pointwise and small reductions only.
    Rule("nnc", NO, "elementwise", "pytorch", r"^tensorexpr_\w+", knows_better=True, words="tensorexpr_"),
    Rule("jit-elementwise", NO, "elementwise", "pytorch", r"_jit_kernel|_jiterator|^jitted_gpu_kernel",
         knows_better=True, words="_jit_kernel _jiterator jitted_gpu_kernel"),
    Rule("nnc-hash", NO, "elementwise", "pytorch",
         r"^fused_\w+_\d{16,20}$",
         note="a TorchScript fusion with a hash; NNC calls libraries for products", knows_better=True, words="fused_"),
    # Loops that a compiler took from directives: NVIDIA's HPC compilers, Clang. They name the function and the line.
    Rule("offloaded-loop", NO, "other", "openmp",
         r"^nvkernel_\w+_F\d+L\d+_\d+$|^__omp_offloading_\w+_l\d+\w*$",
         note="a loop of the program, compiled for CUDA cores", knows_better=True, words="__omp_offloading_ nvkernel_"),
    Rule("openacc-loop", NO, "other", "openacc", r"^\w+_\d+_gpu(?:__red)?$", "",
         r"^\w+$", note="a loop under an OpenACC directive; unlike a CUDA kernel's, its name has no parameters",
         knows_better=True, words="_gpu"),
    Rule("cupy", NO, "elementwise", "cupy",
         r"^cupy_(?!\w*(?:matmul|tensordot|gemm|einsum))\w+$",
         note="a universal function of CuPy, which calls libraries for products", knows_better=True, words="cupy_"),
    Rule("graph-condition", NO, "graph", "@namespace",
         r"\bset_(?:if|if_else|case|for|while)_condition\w*|\bset_conditional_handle\w*",
         note="tells a CUDA graph which branch to take", knows_better=True, words="_condition"),
    # XLA. Dots and convolutions go to libraries (or to the Triton names above); a fusion holds the rest.
    Rule("xla-normalisation", NO, "softmax", "xla", r"^(?:softmax|input_softmax)\w*fusion", words="fusion"),
    Rule("xla-reduction", NO, "reduction", "xla",
         r"^(?:input_|loop_|wrapped_)?(?:\w*_)?(?:reduce|reduction)(?:_\w*)?fusion|^wrapped_reduce|^input_\w*reduce",
         words="fusion input_ wrapped_reduce"),
    Rule("xla-copy", NO, "copy", "xla",
         r"^(?:loop_|input_|wrapped_)(?:\w+_)?(?:transpose|copy|convert|slice|concatenate|pad|broadcast"
         r"|dynamic_update_slice|dynamic_slice)(?:_\w*)?(?:fusion|$)|^wrapped_(?:transpose|copy|convert|slice"
         r"|concatenate|pad|broadcast|iota)|^input_transpose|^(?:copy|transpose|slice|concatenate|broadcast"
         r"|convert)(?:_\d+)?$",
         words="fusion input_ loop_ wrapped_ broadcast concatenate convert copy transpose slice"),
    Rule("xla-embedding", NO, "embedding", "xla", r"^(?:loop_|input_|wrapped_)(?:\w+_)?(?:gather|scatter)",
         words="gather scatter"),
    Rule("xla-sort", NO, "sort", "xla", r"^(?:wrapped_)?sort(?:_\d+)*$", words="sort"),
    Rule("xla-random", NO, "random", "xla", r"^(?:wrapped_)?rng", words="rng"),
    Rule("xla-cudnn-fusion", UNKNOWN, "other", "cudnn",
         r"^_*cudnn\w*fusion", note="a graph that cuDNN runs; the name does not tell which ops", words="fusion"),
    Rule("xla-autotuner", NO, "other", "xla",
         r"^(?:redzone_checker|RepeatBufferKernel|buffer_comparator)\w*", note="XLA's search for the best product",
         words="buffer_comparator redzone_checker repeatbufferkernel"),
    Rule("xla-fusion", NO, "elementwise", "xla",
         r"^(?:loop_|input_|wrapped_)\w+|^(?:\w+_)?fusion(?:_\d+)*(?:__\d+)?$", words="fusion input_ loop_ wrapped_"),
    # TensorRT's Myelin names a kernel by the first letters of its ops: Fc, Mha and Gemm multiply, the rest do not.
    Rule("myelin-attention", YES, "attention", "tensorrt", r"^_gemm_mha_v2|^_mha_v2|^fused_mha",
         words="_mha_v2 fused_mha"),
    Rule("myelin-product", UNKNOWN, "gemm", "tensorrt",
         r"^_?_my[el]\w*(?:Fc|Mha|Gemm|Bmm|Mat[Mm]|Mma|Dot|Conv(?!ert))",
         note="a matrix product; the name does not tell the type", words="_my"),
    Rule("myelin-other", NO, "elementwise", "tensorrt", r"^__?myl_|^__?myelin", knows_better=True, words="myelin myl_"),
    Rule("tensorrt-pointwise", NO, "elementwise", "tensorrt",
         r"generatedNativePointwise|cuEltwise::|\bpwgen_|^generatedNative", knows_better=True,
         words="cueltwise:: generatednative pwgen_"),
    Rule("tensorrt-reformat", NO, "copy", "tensorrt",
         r"genericReformat::|\breformat(?:\b|_)|cuReformat|^permutationKernel|nchwToNcqhw|::reformat"
         r"|copyPackedKernel|^cuInt8::", "@types", knows_better=True,
         words="copypackedkernel cuint8:: nchwtoncqhw permutationkernel reformat"),
    Rule("torch-tensorrt-plugin", NO, "other", "tensorrt",
         r"^cu(?!SoftMax|Eltwise)(?:[A-Z]\w*Layer|Scale|Resize|Shuffle|Gather|Slice|Concat|Pad|TopK)::",
         knows_better=True,
         words="layer:: cuscale:: curesize:: cushuffle:: cugather:: cuslice:: cuconcat:: cupad:: cutopk::"),
    Rule("tensorrt-softmax", NO, "softmax", "tensorrt", r"^cuSoftMax\w*::", "@types", knows_better=True,
         words="cusoftmax"),
)  # fmt: skip
