"""TensorFlow's own kernels, Eigen, ONNX Runtime, JAX, PaddlePaddle. Products go to libraries."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, UNKNOWN, Rule

RULES: Final = (
    Rule("eigen-contraction", NO, "gemm", "eigen",
         r"^(?:Eigen::(?:internal::)?)?Eigen\w*Contraction\w*|^Eigen::internal::\w*Contraction\w*", "@types",
         note="Eigen multiplies on CUDA cores", knows_better=True, words="eigen"),
    Rule("eigen-convolution", NO, "convolution", "eigen", r"^Eigen::internal::\w*Convolution\w*|^EigenConvolution\w*",
         "@types",
         words="eigen"),
    Rule("eigen-reduction", NO, "reduction", "eigen",
         r"^Eigen::internal::\w*(?:Reduc|Reduction)\w*|^(?:Full|Inner|Outer)Reduction(?:Kernel)?\w*"
         r"|^Reduction(?:Init|Clean)\w+",
         "@types", words="eigen fullreduction innerreduction outerreduction reductioninit reductionclean"),
    Rule("eigen", NO, "elementwise", "eigen", r"^Eigen::|^EigenMetaKernel\w*", "@types", words="eigen"),
    Rule("tensorflow-random", NO, "random", "tensorflow",
         r"^tensorflow::\w*(?:::\w+)*(?:Philox|Random|Multinomial)\w*", "@types", words="tensorflow::"),
    Rule("tensorflow-layout", NO, "copy", "tensorflow",
         r"^tensorflow::(?:\w+::)*(?:ShuffleInTensor|SwapDimension|Transpose|PadInput|Concat|Split|Pack|Tile"
         r"|Reverse|StridedSlice|Copy)\w*|\bSwapDimension\w*|\bShuffleInTensor3\w*|\bTransposeKernel\w*"
         r"|^concat_(?:fixed|variable)_kernel|^split_(?:v_)?kernel", "@types",
         words="concat_ shuffleintensor3 split_ swapdimension tensorflow:: transposekernel"),
    Rule("tensorflow-optimizer", NO, "optimizer", "tensorflow",
         r"^tensorflow::(?:\w+::)*(?:Apply|ResourceApply|SparseApply)\w*", "@types", words="tensorflow::"),
    Rule("tensorflow-embedding", NO, "embedding", "tensorflow",
         r"^tensorflow::(?:\w+::)*\w*(?:Gather|Scatter|OneHot|SegmentSum|Where)\w*", "@types", words="tensorflow::"),
    Rule("tensorflow-reduction", NO, "reduction", "tensorflow",
         r"^tensorflow::(?:\w+::)*\w*(?:Reduc|Reduce|Reduction|L2Loss|Sum)\w*|\bRowReduceKernel|\bColumnReduce\w*"
         r"|\bBlockReduceKernel", "@types", words="blockreducekernel columnreduce rowreducekernel tensorflow::"),
    Rule("tensorflow-normalisation", NO, "normalisation", "tensorflow",
         r"^tensorflow::(?:\w+::)*\w*(?:Norm|Moments)\w*", "@types", words="tensorflow::"),
    Rule("tensorflow-softmax", NO, "softmax", "tensorflow",
         r"^tensorflow::(?:\w+::)*\w*(?:Softmax|Xent)\w*|\bGenerateNormalizedProb", "@types",
         words="generatenormalizedprob tensorflow::"),
    Rule("tensorflow-convolution", NO, "convolution", "tensorflow", r"^tensorflow::(?:\w+::)*Depthwise\w*", "@types",
         words="tensorflow::"),
    Rule("tensorflow-elementwise", NO, "elementwise", "tensorflow",
         r"^tensorflow::(?:\w+::)*(?:Bias\w*|Relu\w*|Elu\w*|\w*Grad\w*|SetZero\w*|SetToValue\w*|\w*Cwise\w*"
         r"|\w*Fused\w*)|\bBiasNHWCKernel|\bBiasGradN\w*", "@types", words="biasgradn biasnhwckernel tensorflow::"),
    Rule("tensorflow-other", NO, "other", "tensorflow",
         r"^tensorflow::|^stream_executor::|^tsl::", "@types",
         note="TensorFlow calls libraries for products", words="stream_executor:: tensorflow:: tsl::"),
    Rule("mlir-elementwise", NO, "elementwise", "tensorflow",
         r"^[A-Z]\w+_GPU_DT_\w+_kernel$", "@words",
         note="TensorFlow's MLIR-generated unary and binary ops", words="_gpu_dt_"),
    Rule("onnxruntime", NO, "other", "onnxruntime",
         r"^onnxruntime::(?!(?:\w+::)*(?:\w*[Aa]ttention|\w*[Gg]emm(?!a)|\w*MatMul|(?:[a-z]\w*|H\d*)?:?\.\.))",
         "@types", words="onnxruntime::"),
    Rule("onnxruntime-vector", NO, "gemm", "onnxruntime",
         r"^onnxruntime::(?:\w+::)*(?:\w*[gG]emv|MatMulFloat(?:Int)?[248])\w*$", "@types",
         note="a matrix of narrow numbers times a row, by elements", knows_better=True, words="onnxruntime::"),
    Rule("onnxruntime-beside", NO, "other", "onnxruntime",
         r"^onnxruntime::(?:\w+::)*\w*(?:[qQ]uantize|Bias|Transpose|Softmax|Concat|Mask|Copy|[pP]ack|Mark|Merge|Gate|Remap|Recurrent|Upsample"
         r"|CausalConv)\w*$",
         "@types", note="by elements, or moves what products read", knows_better=True, words="onnxruntime::"),
    Rule("onnxruntime-product", UNKNOWN, "gemm", "onnxruntime", r"^onnxruntime::", "@types", words="onnxruntime::"),
    Rule("paddle", NO, "other", "paddle", r"^(?:phi|paddle)::(?!\w*(?:[Aa]ttention|[Gg]emm))", "@types",
         words="paddle phi"),
)  # fmt: skip
