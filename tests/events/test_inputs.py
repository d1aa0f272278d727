"""Shapes, data types, parameters and formats from recorded inputs."""

from __future__ import annotations

import json

import pytest

from tensorboard_plugin_dlprof.events.formats import Convolution, formats, output_shapes
from tensorboard_plugin_dlprof.events.inputs import describe, parsed_json, tensors
from tests.events.building import build, instance_text, op

CONV = {
    "shapes": [[1, 3, 32, 32], [8, 3, 3, 3], [8], [], [], [], []],
    "dtypes": ["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar"],
    "parameters": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"],
}


def convolution(**changed: object) -> tuple[str, str, str]:
    """Recorded inputs of a convolution, as a PyTorch trace holds them."""
    recorded = {**CONV, **changed}
    return (*(json.dumps(recorded[key]) if recorded[key] else "" for key in ("shapes", "dtypes", "parameters")),)  # type: ignore[return-value]


def test_convolution() -> None:
    """Tensors only, in DLProf's stored form; stride and padding tell the output."""
    description = describe("conv2d", "fprop", *convolution())
    assert description.input_shapes == "[[1,3,32,32],[8,3,3,3],[8]]\n"
    assert description.input_names == '["","",""]\n'
    assert description.output_shapes == "[[1,8,16,16]]\n"
    assert description.parameters == "[[2,2],[1,1],[1,1],[1]]\n"
    assert description.data_type == "float32"
    assert description.formats.data == "N,C,H,W;K,C,R,S"
    assert description.formats.parameters == "SH,SW;PH,PW;DH,DW;G"


@pytest.mark.parametrize(("transposed", "output"), [("False", "[[8,64,8,8]]\n"), ("True", "null\n")])
def test_a_transposed_convolution_is_none(transposed: str, output: str) -> None:
    """``aten::convolution`` can be either: shapes and letters of the one are wrong for the other."""
    values = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", transposed, "[0, 0]", "1"]
    shapes = json.dumps([[8, 64, 16, 16], [64, 64, 4, 4], [], [], [], [], [], [], []])
    dtypes = json.dumps(["float", "float", "", *["ScalarList"] * 3, "Scalar", "ScalarList", "Scalar"])
    description = describe("convolution", "fprop", shapes, dtypes, json.dumps(values))
    assert description.output_shapes == output
    assert bool(description.formats.data) == (description.parameters != "null\n") == (transposed == "False")


def test_output_of_a_convolution_without_recorded_parameters_is_unknown() -> None:
    """Not guessed."""
    assert describe("conv2d", "fprop", *convolution(parameters=None)).output_shapes == "null\n"


def test_nothing_recorded() -> None:
    """Every text is ``null`` with a newline."""
    description = describe("relu", "fprop", "", "", "")
    assert {
        description.input_names,
        description.input_shapes,
        description.output_names,
        description.output_shapes,
        description.parameters,
    } == {"null\n"}
    assert description.data_type == ""


@pytest.mark.parametrize(
    ("shapes", "dtypes", "expected"),
    [
        ("[[2,3],[]]", '["float","Scalar"]', [[2, 3]]),
        ("[[],[2]]", '["c10::Half","long int"]', [[], [2]]),
        ("[[[2,3],[4]],[]]", '["TensorList","Scalar"]', [[2, 3], [4]]),
        ("[[2,3],[]]", "", [[2, 3]]),
        ("not json", "", []),
        ("{}", "", []),
        ('[["x"],null,7]', "", []),
        ("[" * 100_000, "", []),
    ],
)
def test_tensors_among_the_arguments(shapes: str, dtypes: str, expected: list[list[int]]) -> None:
    """Scalars drop out, lists of tensors are flattened, whatever is malformed is nothing."""
    assert [tensor.shape for tensor in tensors(shapes, dtypes)] == expected


def test_mixed_inputs_name_the_type_with_most_elements() -> None:
    """The weights, not the bias."""
    assert describe("mm", "fprop", "[[2,2],[9,9]]", '["float","c10::Half"]', "").data_type == "float16"


def test_autocast_op_computes_in_the_type_of_its_product() -> None:
    """``aten::linear`` gets float32 and calls ``aten::addmm`` with float16."""
    profile = build(
        """
        main op 0-100 aten::linear ; shapes=[[8,4],[2,4]] ; dtypes=["float","float"]
        main op 10-20 aten::to     ; shapes=[[2,4]] ; dtypes=["float"]
        main op 30-90 aten::addmm  ; shapes=[[2],[8,4],[4,2]] ; dtypes=["c10::Half","c10::Half","c10::Half"]
        """
    )
    assert op(profile, "LINEAR_1").data_type == "float16"
    assert instance_text(profile, "LINEAR_1", "input_shapes") == "[[8,4],[2,4]]\n"
    assert instance_text(profile, "LINEAR_1", "output_shapes") == "[[8,2]]\n"


def test_node_without_inputs_takes_the_type_of_its_first_piece() -> None:
    """Autograd nodes of older traces record none."""
    profile = build('bw op 0-100 MulBackward0\nbw op 10-50 aten::mul ; shapes=[[4]] ; dtypes=["double"]')
    assert profile.ops[0].data_type == "float64"


@pytest.mark.parametrize(
    ("op_type", "shapes", "data", "output"),
    [
        ("linear", [[8, 4], [2, 4]], "N,K;M,K", "N,M"),
        ("linear", [[5, 8, 4], [2, 4]], "B,N,K;M,K", "B,N,M"),
        ("linear", [[5, 6, 8, 4], [2, 4]], "B0,B1,N,K;M,K", "B0,B1,N,M"),
        ("addmm", [[2], [8, 4], [4, 2]], "N;M,K;K,N", "M,N"),
        ("addmm", [[8, 2], [8, 4], [4, 2]], "M,N;M,K;K,N", "M,N"),
        ("bmm", [[3, 8, 4], [3, 4, 2]], "B,M,K;B,K,N", "B,M,N"),
        ("matmul", [[8, 4], [4, 2]], "M,K;K,N", "M,N"),
        ("matmul", [[3, 8, 4], [4, 2]], "", ""),
        ("conv1d", [[1, 3, 9], [8, 3, 3]], "N,C,L;K,C,S", "N,K,Q"),
        ("convolution", [[1, 3, 9, 9, 9], [8, 3, 3, 3, 3]], "N,C,D,H,W;K,C,T,R,S", "N,K,O,P,Q"),
        ("relu", [[8, 4]], "", ""),
    ],
)
def test_formats(op_type: str, shapes: list[list[int]], data: str, output: str) -> None:
    """Letters for the dimensions of products of matrices."""
    result = formats(op_type, "fprop", shapes)
    assert (result.data, result.output) == (data, output)
    assert formats(op_type, "bprop", shapes).data == ""


@pytest.mark.parametrize(
    ("op_type", "shapes", "expected"),
    [
        ("linear", [[5, 8, 4], [2, 4]], [[5, 8, 2]]),
        ("mm", [[8, 4], [4, 2]], [[8, 2]]),
        ("mm", [[8, 4], [5, 2]], None),
        ("addmm", [[2], [8, 4], [4, 2]], [[8, 2]]),
        ("bmm", [[3, 8, 4], [3, 4, 2]], [[3, 8, 2]]),
        ("conv2d", [[1, 3, 32, 32], [6, 3, 3, 3]], [[1, 6, 30, 30]]),
        ("conv2d", [[1, 3, 2, 2], [6, 3, 3, 3]], None),
        ("linear", [[8, 4]], None),
        ("relu", [[8, 4]], None),
    ],
)
def test_output_shapes(op_type: str, shapes: list[list[int]], expected: list[list[int]] | None) -> None:
    """Where they follow from the inputs."""
    assert output_shapes(op_type, "fprop", shapes, None) == expected


def test_output_of_a_dilated_strided_convolution() -> None:
    """(32 + 2*2 - 2*(3 - 1) - 1) // 3 + 1 = 11 in height; (30 + 0 - 1*(5 - 1) - 1) // 1 + 1 = 26 in width."""
    parameters = Convolution([3, 1], [2, 0], [2, 1], 1)
    assert output_shapes("conv2d", "fprop", [[2, 3, 32, 30], [4, 3, 3, 5]], parameters) == [[2, 4, 11, 26]]


@pytest.mark.parametrize(
    "text",
    [
        *("[1, 2.5, -3, true, null]", "[123456789012345678901234567890]", "[NaN, Infinity]", "[1E400]", '["\\ud800"]'),
        *(" [0.1, -0.0] ", '"text"', "null", "[[], [[1]]]"),
    ],
)
def test_json_is_read_as_the_standard_library_reads_it(text: str) -> None:
    """What the faster decoder refuses as well."""
    assert repr(parsed_json(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "[1,]", "[01]", "[1]x", "\ud800", "[" * 100_000])
def test_what_is_no_json_is_nothing(text: str) -> None:
    """Broken, no text at all, or nested too deep."""
    assert parsed_json(text) is None
