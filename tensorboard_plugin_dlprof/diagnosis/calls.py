"""What the name of an API or system call, a range or a kernel says about waiting."""

from __future__ import annotations

import re
from typing import Final

from tensorboard_plugin_dlprof.expressions import Expression

_API: Final = r"(?:cuda|hip|cu)"

_SYNC = Expression(rf"{_API}(?:Stream|Device|Event|Ctx|Thread)Synchronize", words=("synchronize",))
_BLOCKING_COPY = Expression(rf"{_API}(?:Memcpy(?!\w*Async)\w*|MemcpyWithStream)", words=("memcpy",))
_ALLOCATION = Expression(
    rf"{_API}(?!\w*Async)(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|ExtMalloc|HostMalloc|HostFree|"
    r"Mem(?:Alloc|Free|Create|Release|Map|Unmap|SetAccess|AddressReserve|AddressFree|HostAlloc|HostRegister|"
    r"HostUnregister|FreeHost))",
    words=("malloc", "free", "alloc", "register", "memcreate", "memrelease", "map", "memsetaccess", "memaddress"),
)
_MODULE = Expression(
    rf"{_API}(?:Library(?:Load|Unload|Get)|Module(?:Load|Unload|GetFunction|GetGlobal)|Init|DevicePrimaryCtx|"
    r"Ctx(?:Create|Destroy)|DeviceReset|GetProcAddress|LinkCreate|LinkAddData|LinkComplete|GraphInstantiate|"
    r"StreamCreate|KernelGetFunction)",
    words=(
        "library",
        "module",
        "init",
        "ctx",
        "reset",
        "getproc",
        "link",
        "instantiate",
        "streamcreate",
        "getfunction",
    ),
)
_CLASSES: Final = (("sync", _SYNC), ("copy", _BLOCKING_COPY), ("allocation", _ALLOCATION), ("module", _MODULE))

_POOL: Final = ("cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemAlloc", "cuMemFree")
_COPY = Expression(rf"(?:{_API})?(?:Memcpy|Memset)", words=("memcpy", "memset"))
_LAUNCH = Expression(r"Launch(?!HostFunc)|GraphUpload|^kernel launch$", words=("launch", "graphupload"))

_WAITS_FOR_GPU = Expression(
    r"block_until_ready|BlockUntilReady|BlockHostUntil|\bAwait\b|\bdevice_get\b|\bsynchronize\b",
    words=("block_until_ready", "blockuntilready", "blockhostuntil", "await", "device_get", "synchronize"),
)

_COMMUNICATION = Expression(
    r"nccl|rccl|cross_device_reduce|mscclpp|msccl_|nvshmem|quick_?reduce|"
    r"(?:one_?shot|two_?shot|multimem)_?(?:all_?reduce|all_?gather|reduce_?scatter)",
    re.IGNORECASE,
    words=("nccl", "rccl", "device_reduce", "msccl", "nvshmem", "quick", "shot", "multimem"),
)
_NO_COLLECTIVE = Expression(r"aten::|apply_rotary", re.IGNORECASE, words=("aten::", "apply_rotary"))

_LOADER = Expression(
    r"^enumerate\(DataLoader\)|^DataLoader$|^DALI|^Iterator::|^tf_data|_DataLoaderIter\.__next__",
    words=("dataloader", "dali", "iterator::", "tf_data"),
)

LIBRARY_DOMAIN: Final = Expression(
    r"(?:NCCL|CCCL|CUB|Thrust|cuBLAS|cuBLASLt|cuDNN|CUDNN\w*|cuFFT|cuSPARSE|cuSOLVER|cuRAND|nvJPEG|libcu\w*|NVSHMEM|UCX)",
    re.IGNORECASE,
)
"""Beginnings of the names of NVTX domains of libraries, whose ranges are no answer to what the program does."""


_VERSION = Expression(r"(?:_v\d+|_ptsz|_ptds)+\Z", words=("_v", "_pts", "_ptd"))


def without_version(name: str) -> str:
    """``cudaMalloc`` for ``cudaMalloc_v3020``: the name that programs call."""
    return _VERSION.sub("", name)


_DECORATED = Expression(
    r"(?:(?<=/)|\A)([#=*~-]{2,}) +([^/ ]+(?: +[^/ ]+)*?) +\1(?=/|\Z)", words=("## ", "== ", "** ", "~~ ", "-- ")
)


def without_decoration(path: str) -> str:
    """``forward/relu`` for ``## forward ##/relu``: ranges are named so to stand out in a list, not in a sentence."""
    return _DECORATED.sub(r"\2", path)


def blocking_class(name: str) -> str:
    """The class of calls that block the host however short they are: ``sync``, ``copy``, ``allocation``, ``module``;
    empty for all others."""
    return next((call_class for call_class, pattern in _CLASSES if pattern.match(name)), "")


def waits_for_gpu(name: str) -> bool:
    """Whether a call, a range or a function is one in which the program waits for the GPU."""
    return blocking_class(name) in ("sync", "copy") or bool(_WAITS_FOR_GPU.search(name))


def class_if_long(name: str) -> str:
    """The class of other calls of ``BLOCK_NS`` or longer: ``copy``, ``launch``, ``other``."""
    return "copy" if _COPY.match(name) else "launch" if _LAUNCH.search(name) else "other"


def is_of_pool(name: str) -> bool:
    """Whether a call allocates from a pool of the driver's, or gives back to it; long only where the pool grows."""
    return "Async" in name and name.startswith(_POOL)


def frees(name: str) -> bool:
    """Whether a call that manages memory gives some back."""
    return any(word in name for word in ("Free", "Release", "Unmap", "Unregister"))


def is_launch(name: str) -> bool:
    """Whether a call launches kernels or graphs."""
    return bool(_LAUNCH.search(name))


def gives_work(name: str) -> bool:
    """Whether a call launches, copies or sets, so that it is the one that device work belongs to."""
    return bool(_LAUNCH.search(name) or _COPY.match(name))


def is_communication(name: str) -> bool:
    """Whether a kernel is a collective, a send or a receive."""
    return bool(_COMMUNICATION.search(name)) and not _NO_COLLECTIVE.search(name)


def is_loader(name: str) -> bool:
    """Whether a range is one in which a batch is fetched."""
    return bool(_LOADER.search(name))
