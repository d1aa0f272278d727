"""Records of what a simulated process runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that a launch runs on the device."""

    name: str
    duration_ns: int
    tensor_core: bool = False
    """Known because the sample is generated; the importer has to find it out from the name."""
    grid: tuple[int, int, int] = (108, 1, 1)
    block: tuple[int, int, int] = (256, 1, 1)
    registers: int = 64
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """Shape and type of a tensor, as the profiler writes them."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def num_bytes(self) -> int:
        """Size in device memory."""
        return self.elements * {"float": 4, "c10::Half": 2, "c10::BFloat16": 2, "long int": 8}[self.dtype]


@dataclass(slots=True)
class DeviceRecord:
    """One piece of device work, kept for the answers."""

    kind: str
    """``kernel``, ``collective``, ``memcpy`` or ``memset``."""
    name: str
    stream: int
    start_ns: int
    end_ns: int
    step: int
    tensor_core: bool = False
    num_bytes: int = 0


@dataclass(slots=True)
class Forward:
    """The forward half of a fwdbwd pair."""

    sequence: int
    start_ns: int


@dataclass(frozen=True, slots=True)
class Block:
    """Device memory that was allocated."""

    address: int
    num_bytes: int


@dataclass(slots=True)
class PendingCollective:
    """A collective that has been launched but waits for the other ranks."""

    ready_ns: int
    duration_ns: int
    correlation: int
    name: str
    num_bytes: int
    step: int
