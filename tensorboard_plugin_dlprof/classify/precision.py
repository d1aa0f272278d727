"""Reads the math precision of a kernel from its name.

Libraries spell it in four ways: words between underscores (``bf16bf16_bf16f32_f32``), a letter before the instruction
shape (``h884``, ``i8816``), letter groups (nvjet's ``tst``, Tensile's ``BBS``) and C++ types in template arguments. The
precision of a kernel is that of its multiplications: the narrowest operand type, not the accumulator's type. All
``of_...`` functions return an empty text if the precision is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from tensorboard_plugin_dlprof.classify.kernel_names import KernelName
from tensorboard_plugin_dlprof.expressions import Expression

_WORD_PRECISIONS: Final[dict[str, str]] = {
    "e2m1": "fp4", "fp4": "fp4", "f4": "fp4", "nvfp4": "fp4", "mxfp4": "fp4", "mxf4": "fp4",
    "e4m3": "fp8", "e5m2": "fp8", "fp8": "fp8", "f8": "fp8", "mxf8": "fp8", "mxfp8": "fp8",
    "f8f6f4": "fp8", "bf8": "fp8",
    "int4": "int4", "s4": "int4", "u4": "int4", "i4": "int4",
    "int8": "int8", "s8": "int8", "i8": "int8", "u8": "int8",
    "bf16": "bf16", "bfloat16": "bf16",
    "f16": "fp16", "fp16": "fp16", "half": "fp16", "hf16": "fp16",
    "tf32": "tf32", "xf32": "tf32",
    "f32": "fp32", "fp32": "fp32", "float": "fp32",
    "f64": "fp64", "fp64": "fp64", "double": "fp64",
}  # fmt: skip

NARROWEST_FIRST: Final = ("fp4", "int4", "fp8", "int8", "bf16", "fp16", "tf32", "fp32", "fp64")

_WORDS = Expression(
    r"(?<![a-z0-9])((?:bf16|tf32|xf32|f16|f32|f64|i32|s32|e4m3|e5m2|e2m1|i8|i4|s8|s4|u8|u4|fp16|fp32|fp64|fp8|fp4|mxfp4|mxfp8"
    r"|nvfp4|mxf4|mxf8|f8f6f4|int8|int4|bfloat16|half|f8|f4|bf8|x)+)(?![a-z0-9])",
    re.IGNORECASE,
)
_ONE_WORD = Expression("|".join(sorted(_WORD_PRECISIONS, key=len, reverse=True)), re.IGNORECASE)


def _narrowest(precisions: Iterable[str]) -> str:
    distinct = set(precisions)
    return next((precision for precision in NARROWEST_FIRST if precision in distinct), "")


def of_words(name: KernelName) -> str:
    """From words between underscores: ``sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn`` is bf16."""
    spelled = name.head if name.text.startswith("_Z") else name.text.split("(", 1)[0]
    words = " ".join(_WORDS.findall(spelled))
    if not words:
        return ""
    return _narrowest(_WORD_PRECISIONS[word.lower()] for word in _ONE_WORD.findall(words))


_INSTRUCTION = Expression(
    r"(?<![a-z0-9])([shicdzb]?)(884|1688|16816|161616|8816|8832|16832|16864|168128)(bf16|f16|tf32)?(?![0-9])",
    re.IGNORECASE,
)
_BY_INSTRUCTION: Final[dict[str, str]] = {
    # The letter is the accumulator's type. h: half; s, c: single, where the shape decides; d, z: double; i: integer.
    "h": "fp16", "d": "fp64", "z": "fp64",
    "i8816": "int8", "i16832": "int8", "i8832": "int4", "i16864": "int4",
    "s884": "fp16", "c884": "fp16", "s16816": "fp16", "s161616": "fp16", "s1688": "tf32", "c1688": "tf32",
}  # fmt: skip
_ROUNDED = Expression(r"x\d+(bf16|f16|tf32)gemm", re.IGNORECASE)
_TURING = Expression(r"turing|_75_|sm75", re.IGNORECASE)


def of_instruction(name: KernelName) -> str:
    """From words, else from the instruction: ``volta_h884gemm`` is fp16, ``cutlass_80_tensorop_s1688gemm`` is tf32."""
    operands = {_WORD_PRECISIONS.get(word.lower(), "fp8") for word in _BLOCK_SCALED.findall(name.text)[:2]}
    if operands:
        # ``ue4m3xe2m1``: scale and operand types. FP6, and FP4 with FP8, multiply at FP8's rate (``f8f6f4``).
        return "fp4" if operands == {"fp4"} else "fp8"
    match = _INSTRUCTION.search(name.text)
    if match and match.group(3):
        # ``s1688bf16gemm``: operands are rounded to that type before the multiplication.
        return _WORD_PRECISIONS[match.group(3).lower()]
    rounded = _ROUNDED.search(name.text)
    if rounded:
        return _WORD_PRECISIONS[rounded.group(1).lower()]
    words = of_words(name)
    if words and words not in ("fp32", "fp64"):
        return words
    if not match:
        return words
    letter, shape = match.group(1).lower(), match.group(2)
    if letter == "s" and shape == "1688" and _TURING.search(name.text):
        return "fp16"  # On Turing, the shape 16x8x8 is FP16 only; TF32 was added with Ampere.
    return _BY_INSTRUCTION.get(letter + shape) or _BY_INSTRUCTION.get(letter) or words


_BLOCK_SCALED = Expression(r"(?<![a-z0-9])ue\d+m\d+x(e2m1|f4|e2m3|e3m2|e4m3|e5m2)", re.IGNORECASE)
_ATOM = Expression(
    r"(?:SM|sm)\d+_\d+x\d+x\d+_(?:F32|F16|S32|F64)((?:BF16|TF32|F16|F64|E4M3|E5M2|E2M1|S8|U8|S4|U4)+)", words=("sm",)
)
_TYPES: Final[tuple[tuple[str, str, str], ...]] = (
    ("fp4", r"float_e2m1|e2m1|mx_float4|nv_float4|fp4_e2m1", "e2m1 _float4"),
    ("int4", r"int4b_t|integer_subbyte<4|\bint4_t", "int4b_t integer_subbyte int4_t"),
    (
        "fp8",
        r"float_e4m3|float_e5m2|Float8_|fp8_e[45]m[32]|__nv_fp8|__hip_fp8|\bfp8(?:e[45])?\b|f8_(?:fnuz_|ocp_)?t\b"
        r"|dynamic_float8",
        "float_e float8 fp8 f8_",
    ),
    ("bf16", r"[Bb][Ff]loat16|__bfloat\b|\bbf16\b|bhalf|DF16b|(?<=_)ttftt", "bfloat bf16 bhalf df16b ttftt"),
    (
        "fp16",
        r"\bHalf\b|\b__half2?\b|(?<!b)half_t\b|(?<!b)half2?\b|\bfp16\b|DF16_|(?<!B)Float16|10half_tE",
        "half fp16 df16_ float16",
    ),
    ("tf32", r"tfloat32_t|\btf32\b", "tfloat32_t tf32"),
    ("fp32", r"\bfloat[234]?\b|\bf32\b|Float32", "float f32"),
    ("fp64", r"\bdouble2?\b|\bf64\b|Float64", "double f64 float64"),
)
"""Precision, expression, and the words of which a text needs one."""
_TYPE_PATTERNS: Final = tuple(
    (precision, Expression(pattern, words=words.split())) for precision, pattern, words in _TYPES
)


def of_types(name: KernelName) -> str:
    """From the C++ types of template arguments and parameters; the narrowest, since accumulators are wider."""
    atom = _ATOM.search_lowered(name.text, name.lowered)
    if atom:
        return _narrowest(_WORD_PRECISIONS[word.lower()] for word in _ONE_WORD.findall(atom.group(1)))
    types = {precision for precision, pattern in _TYPE_PATTERNS if pattern.search_lowered(name.text, name.lowered)}
    if {"bf16", "fp16"} <= types:
        return "mixed"
    return _narrowest(types)


def of_words_or_types(name: KernelName) -> str:
    """The narrowest of words between underscores, C++ types, and the operands of an instruction in a trait."""
    return _narrowest((of_words(name), of_types(name), of_mma_word(name)))


def of_instruction_of_users(name: KernelName) -> str:
    """As `of_words_or_types`, but not FP32: NVIDIA's instructions have none, so that is the sums or what is stored."""
    precision = of_words_or_types(name)
    return "" if precision == "fp32" else precision


_CK_TYPES: Final = tuple(
    (precision, Expression(pattern, words=(word,)))
    for precision, pattern, word in (
        ("fp4", r"\bf4x2_pk_t\b", "f4x2_pk_t"),
        ("int4", r"\bpk_i4_t\b", "pk_i4_t"),
        ("fp8", r"\b_BitInt\(8\)", "_bitint"),
        ("int8", r"\bsigned char\b", "signed"),
        ("bf16", r"\bunsigned short\b", "unsigned"),
    )
)


def of_composable_kernel(name: KernelName) -> str:
    """From the C++ types, among them those that Composable Kernel has no name of its own for: ``bhalf_t`` is an
    ``unsigned short``, ``int8_t`` a ``signed char``, its older ``f8_t`` a ``_BitInt(8)``."""
    own = {precision for precision, pattern in _CK_TYPES if pattern.search_lowered(name.text, name.lowered)}
    types = own | {of_types(name)}
    return "mixed" if {"bf16", "fp16"} <= types else _narrowest(types)


_NVJET = Expression(r"nvjet(?:_sm\d+)?_([a-z]+)_", re.IGNORECASE)
_NVJET_LETTERS: Final[dict[str, str]] = {
    # From public profiles with known operand types: t is bf16, h fp16, q e4m3, r e5m2, o e2m1, d double; s as an
    # operand is FP32 data in a Tensor Core kernel, that is, TF32.
    "t": "bf16", "h": "fp16", "q": "fp8", "r": "fp8", "o": "fp4", "s": "tf32", "d": "fp64", "i": "int8", "b": "int8",
}  # fmt: skip


def of_nvjet(name: KernelName) -> str:
    """From nvjet's letters, operands first: ``nvjet_tst_...`` is bf16, ``nvjet_sm100_qqtst_...`` fp8."""
    letters = _NVJET.search(name.text)
    return _NVJET_LETTERS.get(letters.group(1)[0].lower(), "") if letters else ""


_TENSILE = Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_((?:4xi8)?[A-Z0-9]+)(?:_M([A-Z0-9]))?")
_TENSILE_TYPES: Final[tuple[tuple[str, str], ...]] = (
    ("F8B8", "fp8"), ("B8F8", "fp8"), ("F8", "fp8"), ("B8", "fp8"), ("F4", "fp4"), ("I8", "int8"), ("4xi8", "int8"),
    ("BB", "bf16"), ("HH", "fp16"), ("B", "bf16"), ("H", "fp16"), ("S", "fp32"), ("D", "fp64"),
    ("C", "fp32"), ("Z", "fp64"),
)  # fmt: skip


def of_tensile(name: KernelName) -> str:
    """From Tensile's type letters: ``BBS`` has bf16 input and output and single-precision sums; ``S_MX`` is XF32."""
    match = _TENSILE.search(name.text)
    if not match:
        return ""
    letters, math = match.groups()
    if math == "X":
        return "tf32"
    return next((precision for start, precision in _TENSILE_TYPES if letters.startswith(start)), "")


_SGEMM = Expression(r"(?<![a-z])(?:g?c|s|ss|d|z|h|hh)(?:gemm|cudnn|gemv|gemmex|fprop|dgrad|wgrad)", re.IGNORECASE)


def of_blas_letter(name: KernelName) -> str:
    """From the letter before ``gemm`` or ``cudnn``: ``volta_sgemm`` is fp32, ``ampere_gcgemm`` fp32 complex.

    ``volta_fp16_sgemm_fp16_...`` reads and writes fp16: its letter is the accumulator's.
    """
    match = _SGEMM.search(name.text)
    if not match:
        return of_words_or_types(name)
    letter = re.sub(r"(?:gemm|cudnn|gemv|fprop|dgrad|wgrad)(?:ex)?\Z", "", match.group(0).lower())
    operands = of_words(name)
    if letter == "s" and operands in ("fp16", "bf16"):
        return operands
    return {"d": "fp64", "z": "fp64", "h": "fp16", "hh": "fp16"}.get(letter, "fp32")


def of_types_or_blas_letter(name: KernelName) -> str:
    """From C++ types, or, if the name was cut before them, from the letter: ``precomputed_convolve_sgemm`` is fp32."""
    return of_types(name) or of_blas_letter(name)


_MMA_WORD = Expression(r"_([hidq])g?mma_(?:(bf16|tf32)_)?")
_MMA_LETTERS: Final[dict[str, str]] = {"h": "fp16", "i": "int8", "d": "fp64", "q": "fp8"}


def of_mma_word(name: KernelName) -> str:
    """From the instruction in a template's trait: ``Ampere_hmma_fp32_traits`` is fp16, accumulated in fp32."""
    match = _MMA_WORD.search(name.text)
    if not match:
        return of_types(name)
    return match[2] or _MMA_LETTERS[match[1]]


_AITER_OPERAND = Expression(
    r"(?:pertoken|perToken|blockscale|noquant|per\d+x\d+)_?(MXfp4|Fp4|Fp8|I8|Int8|Bf16|Fp16)|(?:^|::)(i8|I8|fp8|f8|f4|bf16)gemm"
)
_AITER_TYPES: Final[dict[str, str]] = {"mxfp4": "fp4", "i8": "int8", "f8": "fp8", "f4": "fp4"}
_AITER_WIDE = Expression(r"_a16_")


def of_aiter(name: KernelName) -> str:
    """From the operands in AITER's names: ``fmoe_bf16_pertokenFp8_g1u1`` multiplies fp8 and writes bf16.

    With ``_a16_``, the left operand has 16 bits, so narrower right operands make the pair ``mixed``.
    """
    match = _AITER_OPERAND.search(name.head)
    if not match:
        return of_words_or_types(name)
    operand = (match[1] or match[2]).lower()
    precision = _AITER_TYPES.get(operand, operand)
    return "mixed" if _AITER_WIDE.search(name.head) and precision not in ("bf16", "fp16") else precision


_SPCONV = Expression(r"(?:Volta|Turing|Ampere|Hopper|Simt(?:DP4A)?)_(bf16|tf32|f16|f32|s8|i8)")


def of_spconv(name: KernelName) -> str:
    """From the first operand's type: ``Turing_f16f16f16f32f32tnt_m64n32k16...`` is fp16."""
    match = _SPCONV.search(name.head)
    return _WORD_PRECISIONS[match[1]] if match else ""


_NATTEN = Expression(r"_sm(\d+)_(float16|bfloat16|float32)")


def of_natten(name: KernelName) -> str:
    """From the type of NATTEN's generated names; FP32 is computed as TF32 from Ampere on."""
    match = _NATTEN.search(name.text)
    if not match:
        return ""
    return {"float16": "fp16", "bfloat16": "bf16"}.get(match[2]) or ("tf32" if int(match[1]) >= 80 else "fp32")


_MEM_EFF = Expression(r"fmha_cutlass[FB]_(f16|bf16|f32)_")


def of_memory_efficient(name: KernelName) -> str:
    """``fmha_cutlassF_f32_..._sm80`` computes in TF32 (CUTLASS's ``OpMultiplyAddFastF32``)."""
    match = _MEM_EFF.search(name.text)
    precision = _WORD_PRECISIONS[match.group(1)] if match else of_types(name)
    return "tf32" if precision == "fp32" else precision


_OGS = Expression(r"_([a-z0-9]+)x([a-z0-9]+)x([a-z0-9]+)_")


def of_matmul_ogs(name: KernelName) -> str:
    """From the types in Triton's ``_matmul_ogs_NNT_bf16xbf16xmxfp4_...``: output, left and right operand.

    ``tl.dot`` multiplies in the wider operand's type when only the weights are narrow, so the answer is ``mixed``.
    """
    match = _OGS.search(name.text)
    if not match:
        return ""
    left, right = (_WORD_PRECISIONS.get(operand, "") for operand in match.groups()[1:])
    return left if left == right else "mixed"


_TRTLLM_PRODUCT = Expression(r"^(?:bmm|gemm|gemmGatedAct|fusedMoe)_[A-Za-z0-9]+_([A-Za-z0-9]+)_")
_TRTLLM_ATTENTION = Expression(r"_Q(?:kv)?((?:Mx)?[A-Z]\w*?)(?:Kv((?:Mx)?[A-Z]\w*?))?O(?:Mx)?[A-Z]")
_TRTLLM_TYPE = Expression(r"E2m1|E4m3|E5m2|Bfloat16|Fp16|Fp32|Int8|Int4")


def of_trtllm(name: KernelName) -> str:
    """From the operands in generated names: ``bmm_<output>_<A><B>_<accumulator>``, ``_Qkv<type>O<type>``.

    FP4 with FP8 multiplies at FP8's rate (``f8f6f4``); other pairs are ``mixed``.
    """
    product = _TRTLLM_PRODUCT.search(name.text)
    attention = _TRTLLM_ATTENTION.search(name.text)
    operands = product[1] if product else "".join(filter(None, attention.groups())) if attention else ""
    precisions = {_WORD_PRECISIONS[word.lower()] for word in _TRTLLM_TYPE.findall(operands)}
    if len(precisions) < 2:
        return next(iter(precisions), "") or of_words_or_types(name)
    return "fp8" if precisions == {"fp4", "fp8"} else "mixed"


DECODERS: Final[dict[str, Callable[[KernelName], str]]] = {
    "words": of_words,
    "instruction": of_instruction,
    "types": of_types,
    "words or types": of_words_or_types,
    "instruction of users": of_instruction_of_users,
    "ck": of_composable_kernel,
    "nvjet": of_nvjet,
    "tensile": of_tensile,
    "blas letter": of_blas_letter,
    "types or blas letter": of_types_or_blas_letter,
    "mma word": of_mma_word,
    "aiter": of_aiter,
    "spconv": of_spconv,
    "matmul ogs": of_matmul_ogs,
    "memory efficient": of_memory_efficient,
    "trtllm": of_trtllm,
    "natten": of_natten,
}
