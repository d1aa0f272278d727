"""Data types in DLProf's spelling."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.classify.dtypes import data_type


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("float", "float32"),
        ("double", "float64"),
        ("c10::Half", "float16"),
        ("c10::BFloat16", "bfloat16"),
        ("long int", "int64"),
        ("long", "int64"),
        ("int", "int32"),
        ("unsigned char", "uint8"),
        ("bool", "bool"),
        ("signed char", "int8"),
        ("short", "int16"),
        ("c10::complex<float>", "complex64"),
        ("c10::Float8_e4m3fn", "float8_e4m3fn"),
        ("c10::Float8_e5m2fnuz", "float8_e5m2fnuz"),
        ("torch.float16", "float16"),
        ("torch.bfloat16", "bfloat16"),
        ("DT_HALF", "float16"),
        ("DT_BFLOAT16", "bfloat16"),
        ("__half", "float16"),
        ("__nv_bfloat16", "bfloat16"),
        ("float32", "float32"),
        (" float ", "float32"),
    ],
)
def test_spellings(source: str, expected: str) -> None:
    """C++, Python, CUDA and TensorFlow spellings become one."""
    assert data_type(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "",
        "Scalar",
        "ScalarList",
        "TensorList",
        "GenericList",
        "Int",
        "Bool",
        "Double",
        "None",
        "Device",
        "nullptr (uninitialized)",
        "Tensor[]",
    ],
)
def test_arguments_that_are_no_tensors(source: str) -> None:
    """PyTorch's tags for scalars and lists are no data types: ``Double`` is a Python float."""
    assert data_type(source) == ""


def test_a_new_type_is_shown_as_it_is() -> None:
    """A type that we do not know is kept, not lost."""
    assert data_type("c10::Float3_e1m1") == "float3_e1m1"
