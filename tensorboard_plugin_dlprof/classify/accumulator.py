"""Reads a kernel's accumulator type from its name: ``fp16``, ``fp32``, ``fp64``, ``int32``."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.classify.kernel_names import KernelName
from tensorboard_plugin_dlprof.expressions import Expression

_TYPES: Final[dict[str, str]] = {
    "f16": "fp16", "fp16": "fp16", "f32": "fp32", "fp32": "fp32", "f64": "fp64", "fp64": "fp64",
    "i32": "int32", "s32": "int32", "int32": "int32",
}  # fmt: skip
_LETTERS: Final[dict[str, str]] = {
    "h": "fp16", "s": "fp32", "c": "fp32", "d": "fp64", "z": "fp64", "i": "int32",
}  # fmt: skip
_SHAPE = r"(?:884|1688|16816|161616|8816|8832|16832|16864|88128|\d+x\d+x\d+)"

_PATTERNS: Final[tuple[tuple[Expression, dict[str, str]], ...]] = (
    # xmma: two operand types, the type multiplied and the type accumulated, the type of scaling.
    (Expression(r"xmma_\w*?_(?:[a-z]+\d+[a-z0-9]*?){2}_(?:c?(?:bf16|tf32|f16|f32|f64|i8|e4m3|e5m2))c?(f16|f32|f64|i32)_",
                words=("xmma_",)), _TYPES),
    # CUTLASS's instructions: the result type comes first.
    (Expression(r"(?:SM|sm)\d+_\d+x\d+x\d+_(F32|F16|S32|F64)", words=("sm",)), _TYPES),
    # A letter before the instruction: ``h884``, ``s16816gemm``, ``s64x128x16gemm``.
    (Expression(rf"(?:^|_|<)(?:g)?([shidcz])(?:{_SHAPE})(?:bf16|f16|tf32)?(?:sp)?"
                r"(?:gemm|cudnn|fprop|dgrad|wgrad|conv|symm|syrk|trmm|herk|_|$)"), _LETTERS),
    # A letter without an instruction, of CUDA cores: ``hgemm_128x64``, and once more for the data in ``hhgemm``.
    (Expression(r"(?:^|_)h?(h)(?:gemm_\d|gemm<|cudnn_\d)", words=("hgemm", "hcudnn")), _LETTERS),
    # nvjet's letters: operands, then the accumulator, then the result.
    (Expression(r"nvjet(?:_sm\d+)?_[a-z]*([shd])[a-z]_", words=("nvjet",)), _LETTERS),
    # TensorRT-LLM's generated products: result, operands, accumulator.
    (Expression(r"^(?:bmm|gemm|gemmGatedAct|fusedMoe)_[A-Za-z0-9]+_[A-Za-z0-9]+_(Fp32|Fp16|Int32)_",
                words=("fp32", "fp16", "int32")), _TYPES),
    (Expression(r"fmha_v2_\w*?(?:fp16|bf16|e4m3|int8)_(fp32|fp16|int32)_", words=("fmha_v2_",)), _TYPES),
    # CUTLASS 3 without the instruction: both operands, then the accumulator.
    (Expression(r"cutlass3x_sm\d+_\w*?gemm_[a-z0-9]+_[a-z0-9]+_(f16|f32|f64|s32|i32)_", words=("cutlass3x",)), _TYPES),
    # rocBLAS's own Tensile: one type, B for beta, H for sums in a wider type.
    (Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_(H|B|I8|4xi8)BH_", words=("cijk_",)),
     {"h": "fp32", "b": "fp32", "i8": "int32", "4xi8": "int32"}),
    (Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_([SDCZH])B_", words=("cijk_",)), _LETTERS),
    # Tensile: the last of three or more letters of type.
    (Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_(?:[A-Z]\d?){2,3}([SHDI])_", words=("cijk_",)), _LETTERS),
)  # fmt: skip


def accumulator_of(name: KernelName) -> str:
    """The type in which a kernel accumulates its products; empty if the name does not contain it."""
    for pattern, types in _PATTERNS:
        match = pattern.search_lowered(name.text, name.lowered)
        if match:
            return types[match[1].lower()]
    return ""
