"""What idle time is named by: small traces worked out by hand, in microseconds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.diagnosis.answer import diagnose
from tensorboard_plugin_dlprof.diagnosis.as_data import as_data
from tensorboard_plugin_dlprof.diagnosis.as_text import text_of
from tensorboard_plugin_dlprof.diagnosis.calls import without_decoration
from tests.diagnosis.test_parts import FIRST, Event, event, launch, profile_of, step

EVALUATE = "autograd::engine::evaluate_function: "

# The first kernel ends at 100. The second is launched at 400 and begins at 406.
IN_GAP: dict[str, tuple[list[Event], dict[tuple[str | None, str | None], float]]] = {
    "the op that it was in, not the one that it launched next": (
        [event("cpu_op", "aten::mul", 150, 100), event("cpu_op", "aten::add", 390, 30)],
        {(None, "/mul"): 100, (None, "/add"): 15, (None, None): 190},
    ),
    "the outermost op": (
        [event("cpu_op", "aten::linear", 150, 100), event("cpu_op", "aten::addmm", 160, 80)],
        {(None, "/linear"): 100, ("cudaLaunchKernel", None): 5, (None, None): 200},
    ),
    "a call outside of ops": (
        [event("cuda_runtime", "cudaEventRecord", 300, 8)],
        {("cudaEventRecord", None): 8, ("cudaLaunchKernel", None): 5, (None, None): 292},
    ),
    "the innermost range, which is an op where it launches itself, and a call in it": (
        [event("user_annotation", "outer", 100, 310), event("user_annotation", "inner", 150, 100)],
        {(None, "/outer"): 200, (None, "inner"): 100, ("cudaLaunchKernel", "/outer"): 5},
    ),
    "the path of a module, and a function without the address of its object": (
        [
            event("python_function", "nn.Module: Net_0", 110, 300),
            event("python_function", "<built-in method relu of type object at 0x7f00deadbeef>", 150, 50),
        ],
        {
            (None, "/Net"): 240,
            (None, "<built-in method relu of type object>"): 50,
            ("cudaLaunchKernel", "/Net"): 5,
            (None, None): 10,
        },
    ),
    "the node that autograd evaluates": (
        [event("cpu_op", f"{EVALUATE}MulBackward0", 150, 100), event("cpu_op", "MulBackward0", 160, 60)],
        {(None, "/MulBackward0"): 100, ("cudaLaunchKernel", None): 5, (None, None): 200},
    ),
    "what else autograd evaluates": (
        [
            event("cpu_op", f"{EVALUATE}torch::autograd::AccumulateGrad", 150, 100),
            event("cpu_op", "torch::autograd::AccumulateGrad", 160, 80),
            event("cpu_op", "aten::add_", 170, 60),
        ],
        {(None, "AccumulateGrad (backward)"): 100, ("cudaLaunchKernel", None): 5, (None, None): 200},
    ),
}


@pytest.mark.parametrize("name", IN_GAP)
def test_launching_is_named_by_what_the_host_was_in(name: str, tmp_path: Path) -> None:
    """A call only while the host was in it, and nobody where nothing is recorded, or a launch on its way to the GPU."""
    events, want = IN_GAP[name]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [*step(500), *FIRST, *events, *launch(2, 400, 406, 94)]}))
    data = as_data(diagnose(profile_of(trace)), "trace.json")
    rows = [row for row in data["mean"]["devices"]["0"]["rows"] if row["part"] == "launching"]
    on_the_way = [row for row in rows if row["class"] == "delivery"]
    assert [(row["call"], row["path"], row["time_ns"]) for row in on_the_way] == [(None, None, 6_000)]
    named = {(row["call"], row["path"]): row["time_ns"] / 1000 for row in rows if row["class"] is None}
    first = ("cudaLaunchKernel", None)  # From 0 to 5, of the first kernel.
    assert named == {**want, first: want.get(first, 0) + 5}


def test_ranges_that_differ_in_a_number_are_one(tmp_path: Path) -> None:
    """Of requests or layers there may be thousands; one range alone keeps its number, and other digits are names."""
    trace = tmp_path / "trace.json"
    names = ("blocks.1.forward", "blocks.2.forward", "request 7", "conv1d", "conv2d")
    ranges = [event("user_annotation", name, 120 + 50 * number, 20) for number, name in enumerate(names)]
    trace.write_text(json.dumps({"traceEvents": [*step(500), *FIRST, *ranges, *launch(2, 400, 406, 94)]}))
    data = as_data(diagnose(profile_of(trace)), "trace.json")
    paths = {row["path"]: row["time_ns"] for row in data["mean"]["devices"]["0"]["rows"] if row["kind"] == "range"}
    assert paths == {"blocks.*.forward": 40_000, "request 7": 20_000, "conv1d": 20_000, "conv2d": 20_000}


def test_work_that_waited_is_not_said_to_be_missing(tmp_path: Path) -> None:
    """All launches have their work: what it waited for may be the driver that loads a module."""
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [*step(500), *FIRST, *launch(2, 20, 400, 100)]}))
    assert "\nNot recorded: for what launched work waited.\n" in text_of(
        as_data(diagnose(profile_of(trace)), "trace.json")
    )


def test_a_sentence_leaves_out_what_decorates_a_name() -> None:
    """``## forward ##`` stands out in a list of ranges; the name is ``forward``, in each part of a path."""
    assert without_decoration("## forward ##") == "forward"
    assert without_decoration("/## all to all ##/== b ==/c") == "/all to all/b/c"
    for kept in ("/a ## b", "## one", "-- a ==", "a/##/b", "*.py", "x = y = z"):
        assert without_decoration(kept) == kept
