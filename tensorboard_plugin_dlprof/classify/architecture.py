"""Reads the GPU architecture that a kernel was written for from its name.

It is not necessarily that of the GPU that ran the kernel: Hopper runs many kernels whose names begin with ``ampere_``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tensorboard_plugin_dlprof.classify.classes import KernelClass
from tensorboard_plugin_dlprof.classify.kernel_names import KernelName
from tensorboard_plugin_dlprof.expressions import Expression

_CAPABILITIES: Final = (
    "35", "37", "50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "88", "89", "90", "100", "101",
    "103", "110", "120", "121",
)  # fmt: skip
_CAPABILITY = "|".join(sorted(_CAPABILITIES, key=len, reverse=True))
_NUMBERED = Expression(
    rf"(?<![a-z])(?:[a-z]+S|S|s)[mM]_?({_CAPABILITY})(?:[af](?![a-z]))?(?!\d)|(?<![a-zA-Z0-9])SM({_CAPABILITY})_"
    rf"|cutlass_({_CAPABILITY})_",
    words=frozenset(("sm", "cutlass_")),
)
_GENERATION: Final[dict[str, str]] = {
    "kepler": "35", "maxwell": "50", "pascal": "60", "volta": "70", "turing": "75", "ampere": "80", "ada": "89",
    "hopper": "90", "blackwell": "100",
}  # fmt: skip
_NAMED = Expression(rf"(?:^|_|::|\b)(?i:({'|'.join(_GENERATION)}))(?=_|\b)", words=frozenset(_GENERATION))
_AMD = Expression(
    r"(?<![a-z])gfx(\d{3,4}|90[a-c]|9[0-9a-f]{2})(?![0-9a-z])|_ISA(?!0+_)(\d{3,4}|90[a-c])(?=_|$)",
    words=frozenset(("gfx", "_isa")),
)


def architecture_of(name: KernelName) -> str:
    """The architecture, such as ``sm_90`` or ``gfx942``; empty if the name does not contain it."""
    amd = _AMD.search_lowered(name.text, name.lowered)
    if amd:
        return f"gfx{amd[1] or amd[2]}"
    numbered = _NUMBERED.search_lowered(name.text, name.lowered)
    if numbered:
        return f"sm_{next(filter(None, numbered.groups()))}"
    named = _NAMED.search_lowered(name.head, name.lowered) or _NAMED.search_lowered(name.text, name.lowered)
    return f"sm_{_GENERATION[named[1].lower()]}" if named else ""


AMD_LIBRARIES: Final = frozenset(
    ("tensile", "aiter", "composable_kernel", "miopen", "rocblas", "rocsparse", "rocsolver", "rocfft", "aotriton")
)
"""Libraries whose kernels run on AMD's GPUs alone."""


AMD_WORDS = ("AMD", "Instinct", "Radeon")
"""Parts of the names of AMD's GPUs."""

AMD_ARCHITECTURES: Final = {(9, 4): "gfx942", (9, 5): "gfx950"}
"""By the numbers that AMD's runtime gives in place of a compute capability, where they tell it: 9.0 is of several."""


def is_amd(device_name: str) -> bool:
    """Whether a GPU is one of AMD's, by its name."""
    return any(word in device_name for word in AMD_WORDS)


HIP: Final = "HIP"
"""What stands before the version of AMD's runtime, which is stored in place of CUDA's version; alone where only that
it was AMD's is known."""

_HIP_CALL = Expression("hip[A-Z]")


def is_of_amd(calls: Iterable[str], classes: Iterable[KernelClass]) -> bool:
    """Whether the calls of a program's runtime, or its kernels, are none but AMD's."""
    return any(map(_HIP_CALL.match, calls)) or any(
        each.library in AMD_LIBRARIES or each.architecture.startswith("gfx") for each in classes
    )


def matrix_unit_of(device_names: Iterable[str], runtime: str = "") -> str:
    """The vendor's name for the matrix units of GPUs: ``Tensor Core``, or ``Matrix Core`` if one is AMD's by its name
    or by the version of its runtime."""
    return "Matrix Core" if runtime.startswith(HIP) or any(map(is_amd, device_names)) else "Tensor Core"
