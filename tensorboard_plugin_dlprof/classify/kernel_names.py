"""Splits a kernel's name into the parts that rules examine."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from tensorboard_plugin_dlprof.expressions import Expression

_ANONYMOUS = Expression(r"(?:\(anonymous namespace\)|<unnamed>|\{anonymous\}|_GLOBAL__N_\d*)::")
_ANONYMOUS_MARKS: Final = ("anonymous", "<unnamed>", "_GLOBAL__N_")
_NOISE = Expression(r"^(?:static |inline |__global__ |void |auto )+")
_NOISE_WORDS: Final = ("static ", "inline ", "__global__ ", "void ", "auto ")
_ITANIUM_WORD = Expression(r"(\d+)")
_RETURN_TYPE = Expression(r"^(?:typename )?std::enable_if.*?::type (?=\w)")
_RETURN_TYPES: Final = ("typename std::enable_if", "std::enable_if")
_RANGES = Expression(r"^[^<(\[]*/(?=\w|<unnamed>::)", words=frozenset(("/",)))
"""The NVTX ranges around a kernel, which Nsight Systems writes before its name if asked: ``forward/reduce_kernel``."""
_ENDS_HEAD: Final = re.compile(r"[<(\[]").search
_SUFFIXES = Expression(r"(?:\.kd|\s*\[clone [^\]]*\])+\Z", words=frozenset((".kd", "[clone ")))

WRAPPERS: Final = ("Kernel", "Kernel2", "device_kernel")
"""CUTLASS's kernels, of which the template argument alone says what they do."""

_MAXIMUM_LENGTH: Final = 8_000
"""Characters of a name that are examined: a demangled lambda can have megabytes."""

_LONGEST_WORD: Final = 512

_ENDLESS_WORD = Expression(rf"(\w{{{_LONGEST_WORD}}})\w+")
"""Words longer than those of any library are cut too, to limit how much patterns can backtrack."""


class KernelName(msgspec.Struct, frozen=True):
    """The parts of one name."""

    head: str
    """Qualified function name without return type, template arguments and parameters: ``at::native::reduce_kernel``."""
    text: str
    """The whole name, without anonymous namespaces."""
    lowered: str = ""
    """``text`` in lower case; empty if it is not ASCII, because ``str.lower`` and ``re`` then disagree on case."""


def parse(name: str) -> KernelName:
    """Split a demangled, mangled or plain kernel name. Never fails."""
    text = name.strip()[:_MAXIMUM_LENGTH]
    if text.endswith((".kd", "]")):
        text = _SUFFIXES.sub("", text)
    if len(text) > _LONGEST_WORD:
        text = _ENDLESS_WORD.sub(r"\1", text)
    if "/" in text:
        text = _RANGES.sub("", text)
    if text.startswith("_Z"):
        return KernelName(_mangled_head(text), text, lowered(text))
    if text.startswith(_NOISE_WORDS):
        text = _NOISE.sub("", text)
    if text.startswith(_RETURN_TYPES):
        text = _RETURN_TYPE.sub("", text)
    for mark in _ANONYMOUS_MARKS:
        if mark in text:
            text = _ANONYMOUS.sub("", text)
            break
    end = _ENDS_HEAD(text, 1)
    return KernelName(text[: end.start()].strip() if end else text, text, lowered(text))


def lowered(text: str) -> str:
    """``text`` in lower case; empty if it is not ASCII, because ``str.lower`` and ``re`` then disagree on case."""
    return text.lower() if text.isascii() else ""


def _mangled_head(text: str) -> str:
    """Function name in an Itanium-mangled symbol, with namespaces joined by ``::``; the symbol itself if it has none.

    Reads ``_Z`` ``N``? (``<length><identifier>``)*; template arguments (``I``) end it. The rest of the grammar does not
    occur in the names of ``__global__`` functions.
    """
    position = 2
    nested = text[position : position + 1] == "N"
    if nested:
        position += 1
        while text[position : position + 1] in ("K", "V", "r"):
            position += 1
    elif text[position : position + 1] == "L":
        position += 1
    words: list[str] = []
    while length := _ITANIUM_WORD.compiled().match(text, position):
        size = int(length.group(1))
        start = length.end()
        word = text[start : start + size]
        if len(word) < size or "." in word:  # A tool has cut it.
            words.append("")
            break
        words.append(word)
        position = start + size
        if not nested or text[position : position + 1] in ("I", "E", "C", "D"):
            break
    named = [word for word in words if not word.startswith("_GLOBAL__N")]
    return "::".join(named) or text


_LIBRARY_BY_NAMESPACE: Final[dict[str, str]] = {
    "at": "pytorch", "c10": "pytorch", "torch": "pytorch", "caffe2": "pytorch", "at_cuda_detail": "pytorch",
    "vision": "pytorch",
    "fbgemm_gpu": "fbgemm", "fbgemm": "fbgemm", "vllm": "vllm", "sglang": "sglang", "sgl_hip": "sglang",
    "sgl_kernel": "sglang", "tensorrt_llm": "tensorrt_llm", "flashinfer": "flashinfer",
    "fastertransformer": "tensorrt_llm", "transformer_engine": "transformer_engine", "apex": "apex",
    "aiter": "aiter", "cudnn": "cudnn", "tensorflow": "tensorflow", "onnxruntime": "onnxruntime", "phi": "paddle",
    "paddle": "paddle", "deepspeed": "deepspeed", "cub": "cub", "thrust": "cub", "rocprim": "cub", "hipcub": "cub",
    "mlx": "mlx", "ggml": "ggml", "dgl": "dgl", "graphbolt": "dgl", "minkowski": "minkowski_engine",
    "faiss": "faiss", "gsplat": "gsplat", "higs": "gsplat", "lightseq": "lightseq", "ctranslate2": "ctranslate2",
    "nvinfer1": "tensorrt", "mxnet": "mxnet", "mshadow": "mxnet", "cudf": "cudf", "dali": "dali", "caffe": "caffe",
    "oneflow": "oneflow", "spconvlib": "spconv", "cv": "opencv", "gko": "ginkgo", "Kokkos": "kokkos",
    "kaolin": "kaolin", "ngp": "instant_ngp", "wp": "warp", "cuBQL": "warp", "marian": "marian", "kaldi": "kaldi",
    "HugeCTR": "hugectr", "nbla": "nnabla", "arrayfire": "arrayfire", "LightGBM": "lightgbm", "cuopt": "cuopt",
    "open3d": "open3d", "xgboost": "xgboost", "k2": "k2", "nvcv": "nvcv", "cvcuda": "nvcv", "matx": "matx",
    "dietgpu": "dietgpu", "gmx": "gromacs", "dyn_emb": "dynamicemb", "rocsparse": "rocsparse",
}  # fmt: skip

_PYTORCH_UNQUALIFIED = Expression(
    r"^(?:softmax_warp_|cunn_|elementwise_kernel|indexing_backward_kernel|multi_tensor_apply_kernel|krn_partial"
    r"|compute_grad_weight|sum_and_scatter|compute_num_of_partial|fused_dropout|reduce_kernel|vectorized_|unrolled_"
    r"|kernelPointwiseApply|kernelReduce(?:All|Contig|Noncontig)|batch_norm_(?:transform|collect|backward)\w*_kernel)"
)
_APEX_UNQUALIFIED = Expression(r"^cu(?:Apply|Compute)\w*|^(?:scaled_\w*masked_softmax_warp|multi_tensor_\w*novograd)")


def library_of(name: KernelName) -> str:
    """The library, by the namespace of the function; ``custom`` if unknown."""
    namespace = name.head.split("::", 1)[0] if "::" in name.head else ""
    known = _LIBRARY_BY_NAMESPACE.get(namespace)
    if known:
        return known
    if _PYTORCH_UNQUALIFIED.search(name.head) or "at::native::" in name.text:
        return "pytorch"
    return "apex" if _APEX_UNQUALIFIED.search(name.head) else "custom"
