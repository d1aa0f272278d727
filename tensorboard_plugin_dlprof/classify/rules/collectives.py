"""Communication between GPUs. None of it multiplies matrices, unless a GEMM is fused with it (``QUANTISED``)."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.rules.rule import NO, Rule

RULES: Final = (
    Rule("nccl", NO, "collective", "nccl",
         r"^nccl(?:Dev)?Kernel|^nccl[A-Z]\w*(?:Kernel|_)|^ncclSymk?Dev|^ncclSym",
         note="RCCL's kernels have the same names", knows_better=True, words="nccl"),
    Rule("rccl", NO, "collective", "rccl", r"^rccl\w*Kernel|^rccl_", knows_better=True, words="rccl"),
    Rule("msccl", NO, "collective", "msccl", r"\bmscclKernel|^mscclpp|\bmscclpp::", words="mscclkernel mscclpp"),
    Rule("one-rank-reduce", NO, "collective", "nccl", r"^oneRankReduce", note="NCCL's reduction over one rank",
         words="onerankreduce"),
    Rule("nvshmem", NO, "collective", "nvshmem", r"nvshmem|_on_stream_kernel(?:_|$)|\bsync_all_kernel",
         words="_on_stream_kernel nvshmem sync_all_kernel"),
    Rule("deep-ep", NO, "collective", "deep_ep", r"\bdeep_ep::|\bdpsk::ep::|\bep::(?:inter|intra)node(?:_ll)?::",
         note="dpsk: DeepSeek's own build", words="deep_ep:: dpsk::ep:: inter intra"),
    Rule("pplx", NO, "collective", "pplx", r"\bpplx::|\ball_to_all::", words="all_to_all:: pplx::"),
    Rule("custom-all-reduce", NO, "collective", "@namespace",
         r"^(?!.*(?i:gemm|matmul|_mm(?:_|\b)))(?:.*(?:cross_device_reduce|all_?reduce_(?:fus|1stage|2stage|twoshot"
         r"|oneshot|one_shot|two_shot)|(?:one|two)_?shot_?[Aa]ll_?[Rr]educe|AllReduce|\ballreduce|quickreduce"
         r"|(?:[a-z]_)?all_?gather_?(?:kernel|_into|ll_kernel)?\b|(?:^|_)reduce_scatter_(?:\w+_)?kernel|lamport"
         r"|ar_fusion|^ggml_cuda_ar_kernel))",
         note="all-reduces of vLLM, SGLang, TensorRT-LLM, FlashInfer, AITER and llama.cpp", knows_better=True,
         words="ar_fusion cuda_ar_ device_reduce all_reduce allreduce quickreduce gather reduce_scatter lamport"),
    Rule("moe-all-to-all", NO, "collective", "@namespace",
         r"^(?!.*(?i:gemm|matmul)).*(?:^|_)a2av?(?:_|$)|^ubx_kernel_\w+|\bmoe_comm\b|moeAllToAll|alltoall|all_to_all"
         r"|\bmoe_prepare::|\bmoe_a2a|mnnvl",
         words="a2a ubx_kernel_ all_to_all alltoall mnnvl moe_a2a moe_comm moe_prepare::"),
    Rule("symmetric-memory", NO, "collective", "pytorch",
         r"multimem_|symm_mem|\bsymmetric_memory|(?:one|two)_shot_all_reduce|\bc10d::|\bbarrier_kernel\b"
         r"|\bput_signal|\bwait_signal",
         words="_shot_all_reduce barrier_kernel c10d:: multimem_ put_signal symm_mem symmetric_memory wait_signal"),
    Rule("userbuffers", NO, "collective", "transformer_engine", r"\bk?userbuffers_", words="userbuffers_"),
    Rule("horovod-gloo", NO, "collective", "gloo", r"\bgloo::|\bhorovod::", words="gloo:: horovod::"),
)  # fmt: skip
