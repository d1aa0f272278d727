"""Converts the data type names of all sources to DLProf's spelling (``float32``, ``bfloat16``, ...)."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_dlprof.expressions import Expression

_SPELLINGS: Final[dict[str, tuple[str, ...]]] = {
    # DLProf's spelling: C++ (PyTorch traces), Python (``torch.float16``), CUDA, TensorFlow and shorthand spellings.
    "float64": ("double", "float64", "fp64", "f64"),
    "float32": ("float", "float32", "fp32", "f32", "single"),
    "tf32": ("tf32", "tfloat32"),
    "float16": ("half", "float16", "fp16", "f16", "__half"),
    "bfloat16": ("bfloat16", "bf16", "__nv_bfloat16", "__hip_bfloat16", "nv_bfloat16", "hip_bfloat16"),
    "float8_e4m3fn": ("float8_e4m3fn", "float8e4m3fn", "__nv_fp8_e4m3"),
    "float8_e4m3fnuz": ("float8_e4m3fnuz", "__hip_fp8_e4m3_fnuz"),
    "float8_e5m2": ("float8_e5m2", "float8e5m2", "__nv_fp8_e5m2"),
    "float8_e5m2fnuz": ("float8_e5m2fnuz", "__hip_fp8_e5m2_fnuz"),
    "float8_e8m0fnu": ("float8_e8m0fnu",),
    "float4_e2m1fn_x2": ("float4_e2m1fn_x2", "__nv_fp4_e2m1"),
    "complex32": ("complexhalf", "complex<half>", "complex<c10::half>", "complex32"),
    "complex64": ("complexfloat", "complex<float>", "complex64", "cfloat", "float2"),
    "complex128": ("complexdouble", "complex<double>", "complex128", "cdouble", "double2"),
    "int64": ("long", "long int", "long long", "long long int", "int64", "int64_t", "signed long"),
    "int32": ("int", "int32", "int32_t", "signed int"),
    "int16": ("short", "short int", "int16", "int16_t"),
    "int8": ("signed char", "char", "int8", "int8_t"),
    "uint64": ("unsigned long", "unsigned long int", "unsigned long long", "uint64", "uint64_t"),
    "uint32": ("unsigned int", "unsigned", "uint32", "uint32_t"),
    "uint16": ("unsigned short", "unsigned short int", "uint16", "uint16_t"),
    "uint8": ("unsigned char", "uint8", "uint8_t", "byte"),
    "bool": ("bool", "boolean"),
    "qint8": ("qint8",),
    "quint8": ("quint8",),
    "qint32": ("qint32",),
}

ITEM_BYTES: Final = {
    "float64": 8.0, "float32": 4.0, "tf32": 4.0, "float16": 2.0, "bfloat16": 2.0,
    "float8_e4m3fn": 1.0, "float8_e5m2": 1.0, "float8_e4m3fnuz": 1.0, "float8_e5m2fnuz": 1.0, "float8_e8m0fnu": 1.0,
    "float4_e2m1fn_x2": 1.0, "complex32": 4.0, "complex64": 8.0, "complex128": 16.0,
    "int64": 8.0, "int32": 4.0, "int16": 2.0, "int8": 1.0, "uint64": 8.0, "uint32": 4.0, "uint16": 2.0, "uint8": 1.0,
    "bool": 1.0, "qint8": 1.0, "quint8": 1.0, "qint32": 4.0,
}  # fmt: skip
"""Bytes of an element, by DLProf's spelling of its type. An element of ``float4_e2m1fn_x2`` is a pair of values."""

_BY_SPELLING: Final[dict[str, str]] = {
    spelling: data_type for data_type, spellings in _SPELLINGS.items() for spelling in spellings
}

_NAMESPACES = Expression(r"^(?:c10|at|torch|std|tf|np|numpy|jnp|dtypes?|DT)(?:::|\.|_)")

_NO_TENSOR: Final = frozenset(
    # PyTorch records these for arguments that are no tensors: the ``IValue`` tag, capitalised (``Double`` is a Python
    # float, ``double`` a tensor of doubles), or, since 2.1, Kineto's kinds of them.
    (
        "", "None", "Tensor", "Storage", "Double", "ComplexDouble", "Int", "SymInt", "SymFloat", "SymBool",
        "Bool", "Tuple", "String", "Blob", "GenericList", "GenericDict", "Future", "Await", "Device",
        "Stream", "Object", "PyObject", "Uninitialized", "Capsule", "RRef", "Quantizer", "Generator", "Enum",
        "Scalar", "ScalarList", "TensorList",
    )
)  # fmt: skip

_WORD = Expression(r"[a-z]\w*\Z")


def data_type(source: str) -> str:
    """The data type in DLProf's spelling; empty if ``source`` is not the type of a tensor.

    Args:
        source: A type as recorded: ``c10::BFloat16``, ``torch.float16``, ``long int``, ``Scalar``.

    Returns:
        DLProf's spelling of a known type. An unknown type is returned without its namespace and in lower case, so that
        new types are shown.
    """
    bare = source.strip()
    if bare in _NO_TENSOR:
        return ""
    while (stripped := _NAMESPACES.sub("", bare)) != bare:
        bare = stripped
    bare = bare.lower()
    known = _BY_SPELLING.get(bare)
    if known is not None:
        return known
    return bare if _WORD.match(bare) else ""
