"""Theoretical occupancy of a kernel, and how many waves of blocks it takes."""

from __future__ import annotations

from functools import lru_cache
from math import ceil

import msgspec

WARP = 32
_REGISTERS_A_WARP_UNIT = 256


class Limits(msgspec.Struct, frozen=True):
    """What one multiprocessor has (CUDA C++ Programming Guide, "Compute Capabilities", technical specifications)."""

    warps: int
    blocks: int
    registers: int
    shared_bytes: int
    shared_unit: int
    """Shared memory is given out in such pieces."""
    reserved_bytes: int
    """Shared memory that the system keeps of each block."""


_KIB = 1024
LIMITS: dict[tuple[int, int], Limits] = {
    (6, 0): Limits(64, 32, 65_536, 64 * _KIB, 256, 0),
    (6, 1): Limits(64, 32, 65_536, 96 * _KIB, 256, 0),
    (7, 0): Limits(64, 32, 65_536, 96 * _KIB, 256, 0),
    (7, 2): Limits(64, 32, 65_536, 96 * _KIB, 256, 0),
    (7, 5): Limits(32, 16, 65_536, 64 * _KIB, 256, 0),
    (8, 0): Limits(64, 32, 65_536, 164 * _KIB, 128, 1 * _KIB),
    (8, 6): Limits(48, 16, 65_536, 100 * _KIB, 128, 1 * _KIB),
    (8, 7): Limits(48, 16, 65_536, 164 * _KIB, 128, 1 * _KIB),
    (8, 9): Limits(48, 24, 65_536, 100 * _KIB, 128, 1 * _KIB),
    (9, 0): Limits(64, 32, 65_536, 228 * _KIB, 128, 1 * _KIB),
    (10, 0): Limits(64, 32, 65_536, 228 * _KIB, 128, 1 * _KIB),
    (10, 3): Limits(64, 32, 65_536, 228 * _KIB, 128, 1 * _KIB),
    (12, 0): Limits(48, 24, 65_536, 100 * _KIB, 128, 1 * _KIB),
}
"""By compute capability. AMD's devices, which report the architecture's number (9.4), are told apart by their name."""


class Occupancy(msgspec.Struct, frozen=True):
    """The answer for one launch."""

    fraction: float
    """Warps that fit on a multiprocessor, of those it can hold."""
    blocks_per_sm: int
    limiter: str
    """``warps``, ``blocks``, ``registers``, ``shared_memory``: what ends first."""


@lru_cache(maxsize=65_536)
def occupancy(
    capability: tuple[int, int], threads: int, registers: int, static_bytes: int, dynamic_bytes: int
) -> Occupancy | None:
    """Theoretical occupancy of a launch; None where the device or the launch is not known.

    Args:
        capability: Compute capability of an NVIDIA device.
        threads: Of a block.
        registers: Of a thread; -1 unknown.
        static_bytes: Shared memory of a block; -1 unknown.
        dynamic_bytes: Likewise. A PyTorch trace gives the sum of both alone, which stands as this one.
    """
    limits = LIMITS.get(capability)
    if limits is None or threads <= 0 or registers < 0 or max(static_bytes, dynamic_bytes) < 0:
        return None
    warps = ceil(threads / WARP)
    # A warp's registers come in units; registers are given out to each of four schedulers alone.
    a_warp = ceil(registers * WARP / _REGISTERS_A_WARP_UNIT) * _REGISTERS_A_WARP_UNIT
    by_registers = limits.warps
    if a_warp:
        by_registers = limits.registers // 4 // a_warp * 4
    shared = max(static_bytes, 0) + max(dynamic_bytes, 0)
    if shared:
        shared = ceil((shared + limits.reserved_bytes) / limits.shared_unit) * limits.shared_unit
    fits = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": by_registers // warps,
        "shared_memory": limits.shared_bytes // shared if shared else limits.blocks,
    }
    limiter = min(fits, key=lambda name: fits[name])
    blocks = fits[limiter]
    if blocks < 1:
        return None
    return Occupancy(blocks * warps / limits.warps, blocks, limiter)


def waves(blocks: int, blocks_per_sm: int, sm_count: int) -> float | None:
    """How often the device is filled with blocks; None without the number of multiprocessors."""
    return blocks / (blocks_per_sm * sm_count) if sm_count > 0 and blocks > 0 else None


def tail_fraction(wave_count: float) -> float:
    """Share of block slots that stay empty in the last wave, of all slots of all waves."""
    return 1 - wave_count / ceil(wave_count) if wave_count > 0 else 0.0
