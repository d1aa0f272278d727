"""What the name of an API or system call, a range or a kernel says about waiting."""

from __future__ import annotations

import re
from typing import Final

_API: Final = r"(?:cuda|hip|cu)"

_SYNC = re.compile(rf"{_API}(?:Stream|Device|Event|Ctx|Thread)Synchronize")
_BLOCKING_COPY = re.compile(rf"{_API}(?:Memcpy(?!\w*Async)\w*|MemcpyWithStream)")
_ALLOCATION = re.compile(
    rf"{_API}(?!\w*Async)(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|ExtMalloc|HostMalloc|HostFree|"
    r"Mem(?:Alloc|Free|Create|Release|Map|Unmap|SetAccess|AddressReserve|AddressFree|HostAlloc|HostRegister|"
    r"HostUnregister|FreeHost))"
)
_MODULE = re.compile(
    rf"{_API}(?:Library(?:Load|Unload|Get)|Module(?:Load|Unload|GetFunction|GetGlobal)|Init|DevicePrimaryCtx|"
    r"Ctx(?:Create|Destroy)|DeviceReset|GetProcAddress|LinkCreate|LinkAddData|LinkComplete|GraphInstantiate|"
    r"StreamCreate|KernelGetFunction)"
)
_CLASSES: Final = (("sync", _SYNC), ("copy", _BLOCKING_COPY), ("allocation", _ALLOCATION), ("module", _MODULE))

_POOL: Final = ("cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemAlloc", "cuMemFree")
_COPY = re.compile(rf"(?:{_API})?(?:Memcpy|Memset)")
_LAUNCH = re.compile(r"Launch(?!HostFunc)|GraphUpload|^kernel launch$")

_FILE_OR_NETWORK = re.compile(
    r"(?:read|write|pread|pwrite|readv|writev|open|openat|open64|fopen|fread|fwrite|fclose|close|fsync|recv|send|"
    r"recvmsg|sendmsg|recvfrom|sendto|stat|fstat|lseek|fgets|getline|fgetc|getc|mmap|mmap64|munmap)\d*(?:64)?\Z"
)

_COMMUNICATION = re.compile(
    r"nccl|rccl|cross_device_reduce|mscclpp|msccl_|nvshmem|quick_?reduce|"
    r"(?:one_?shot|two_?shot|multimem)_?(?:all_?reduce|all_?gather|reduce_?scatter)",
    re.IGNORECASE,
)
_NO_COLLECTIVE = re.compile(r"aten::|apply_rotary", re.IGNORECASE)

_LOADER = re.compile(r"^enumerate\(DataLoader\)|^DataLoader$|^DALI|^Iterator::|^tf_data|_DataLoaderIter\.__next__")

LIBRARY_DOMAIN: Final = re.compile(
    r"(?:NCCL|CCCL|CUB|Thrust|cuBLAS|cuBLASLt|cuDNN|CUDNN\w*|cuFFT|cuSPARSE|cuSOLVER|cuRAND|nvJPEG|libcu\w*|NVSHMEM|UCX)",
    re.IGNORECASE,
)
"""Beginnings of the names of NVTX domains of libraries, whose ranges are no answer to what the program does."""


_VERSION = re.compile(r"(?:_v\d+|_ptsz|_ptds)+\Z")


def without_version(name: str) -> str:
    """``cudaMalloc`` for ``cudaMalloc_v3020``: the name that programs call."""
    return _VERSION.sub("", name)


def blocking_class(name: str) -> str:
    """The class of calls that block the host however short they are: ``sync``, ``copy``, ``allocation``, ``module``;
    empty for all others."""
    return next((call_class for call_class, pattern in _CLASSES if pattern.match(name)), "")


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


def is_file_or_network(name: str) -> bool:
    """Whether a system call reads or writes files or sockets."""
    return bool(_FILE_OR_NETWORK.match(name))


def is_communication(name: str) -> bool:
    """Whether a kernel is a collective, a send or a receive."""
    return bool(_COMMUNICATION.search(name)) and not _NO_COLLECTIVE.search(name)


def is_loader(name: str) -> bool:
    """Whether a range is one in which a batch is fetched."""
    return bool(_LOADER.search(name))
