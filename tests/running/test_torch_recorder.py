"""Real programs, recorded by the PyTorch profiler on the CPU; what needs no torch comes first."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.running import torch_recorder
from tensorboard_plugin_dlprof.running.torch_recorder import parse, step_counts, step_range
from tests.running.recording import events, record, spans, steps
from tests.waiting import PATIENCE_S

TRAIN = """
import sys
import torch
steps, then = int(sys.argv[1]), sys.argv[2:]
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
first = torch.optim.Adam(model.parameters())
second = torch.optim.SGD(model.parameters(), lr=0.1)
if "interrupt" in then:
    import os, signal
for step in range(steps):
    first.zero_grad()
    model(torch.randn(2, 8)).square().mean().backward()
    first.step()
    second.step()
if "evaluate" in then:
    model(torch.randn(2, 8))
if "interrupt" in then:
    os.kill(os.getpid(), signal.SIGINT)
if "fail" in then:
    raise SystemExit(5)
print(__name__, sys.argv, __file__)
"""

COMPILED = """
import sys, torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
    def forward(self, x):
        return self.linear(x)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
options = {"backend": "eager", "fullgraph": True}
call = model
if sys.argv[1] == "module":
    call = torch.compile(model, **options)
elif sys.argv[1] == "method":
    model.compile(**options)
else:
    call = torch.compile(lambda x: model(x), **options)
for _ in range(6):
    call(torch.randn(2, 8)).sum().backward()
    optimizer.step()
from torch._dynamo.utils import counters
print(counters["stats"]["unique_graphs"], dict(counters["graph_break"]))
"""


def test_the_programs_options_are_none_of_ours() -> None:
    """What follows the program is its own."""
    options, program = parse(["--steps", "1:2:3", "--stacks", "train.py", "--steps", "9"])
    assert (options.steps, options.stacks, options.memory) == ((1, 2, 3), True, False)
    assert program == ["train.py", "--steps", "9"]
    assert parse(["--memory", "-m", "package", "-m"])[1] == ["-m", "package", "-m"]
    assert parse(["--", "-c", "pass"])[1] == ["-c", "pass"]


@pytest.mark.parametrize("text", ["", "1:2", "1:2:0", "a:b:c", "-1:2:3", "1:2:3:4"])
def test_steps_that_mean_nothing_are_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(argparse.ArgumentTypeError, match="5:2:10"):
        step_counts(text)


@pytest.mark.parametrize("text", ["", "1", "1:", "a:b", "2:1", "1:2:3"])
def test_a_range_that_means_nothing_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(argparse.ArgumentTypeError, match="20:80"):
        step_range(text)


def test_without_torch_one_sentence_says_how_to_go_on(tmp_path: Path) -> None:
    """``-S`` hides what is installed."""
    command = [sys.executable, "-S", torch_recorder.__file__, "program.py"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 1
    assert "has no PyTorch: install it there (pip install torch), or install Nsight Systems" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_it_needs_nothing_of_ours_and_hides_no_module_of_others() -> None:
    """It runs in the interpreter of the program, and its folder is the first that Python looks for modules in."""
    source = Path(torch_recorder.__file__)
    for name in (source.name, "program_hooks.py"):
        assert not re.search(
            r"^\s*(from|import) tensorboard_plugin_dlprof", source.with_name(name).read_text(), re.MULTILINE
        )
    assert not {path.stem for path in source.parent.glob("*.py")} & (sys.stdlib_module_names | {"torch", "numpy"})


def test_the_first_steps_are_dropped_when_enough_follow(tmp_path: Path) -> None:
    """Ten steps; each holds one forward pass and both optimizers whole. The program sees no difference."""
    ended = record(tmp_path, TRAIN, "20")
    assert ended.returncode == 0, ended.stderr
    assert "__main__ ['program.py', '20'] " in ended.stdout
    assert steps(tmp_path) == list(range(3, 13))
    recorded = events(tmp_path)
    inside = [
        [event["name"] for event in recorded if start <= event["ts"] and event["ts"] + event["dur"] <= end]
        for start, end in spans(tmp_path, "ProfilerStep#").values()
    ]
    for names in inside:
        assert names.count("Optimizer.step#Adam.step") == names.count("Optimizer.step#SGD.step") == 1
        assert names.count("aten::linear") == 2
    linear = next(event for event in recorded if event["name"] == "aten::linear")
    assert linear["args"]["Input Dims"][0] == [2, 8]


@pytest.mark.parametrize(("arguments", "expected"), [(["2"], [0, 1]), (["3", "evaluate"], [0, 1, 2]), (["5"], [3, 4])])
def test_a_short_program_is_recorded_too(tmp_path: Path, arguments: list[str], expected: list[int]) -> None:
    """What there is; an evaluation does not push out the training before it."""
    assert record(tmp_path, TRAIN, *arguments).returncode == 0
    assert steps(tmp_path) == expected


@pytest.mark.parametrize(
    ("wanted", "count", "expected"),
    [
        ("6:8", 12, [6, 7, 8]),
        ("6:8", 7, [6]),
        ("6:8", 5, [0, 1, 2]),
        ("4:5", 9, [4, 5]),
        ("1:2", 9, [1, 2]),
        ("0:1", 9, [0, 1]),
    ],
)
def test_a_range_of_steps_is_recorded_and_else_the_first_ones(
    tmp_path: Path, wanted: str, count: int, expected: list[int]
) -> None:
    """DLProf's range of iterations: where the program ends before it, its first steps are better than nothing."""
    assert record(tmp_path, TRAIN, str(count), options=("--range", wanted)).returncode == 0
    assert steps(tmp_path) == expected


def test_inference_is_recorded_from_the_first_forward_pass(tmp_path: Path) -> None:
    """Without an optimizer there are no steps to count."""
    program = "import torch\nmodel = torch.nn.Linear(8, 4)\nfor _ in range(5): model(torch.randn(2, 8))\n"
    assert record(tmp_path, program).returncode == 0
    assert [event["name"] for event in events(tmp_path)].count("aten::linear") == 5


def test_the_steps_and_contents_that_were_asked_for(tmp_path: Path) -> None:
    """Two steps after three; with the modules and without shapes."""
    options = ("--steps", "2:1:2", "--modules", "--no-shapes")
    assert record(tmp_path, TRAIN, "9", options=options).returncode == 0
    assert steps(tmp_path) == [3, 4]
    names = {event["name"] for event in events(tmp_path)}
    assert {"nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: ReLU_0"} <= names
    assert not any("Input Dims" in event["args"] for event in events(tmp_path) if event["name"] == "aten::linear")


def test_the_whole_program_can_be_recorded(tmp_path: Path) -> None:
    """What neither modules nor optimizers tell of."""
    assert record(tmp_path, "import torch\ntorch.zeros(3)\n", options=("--steps", "all")).returncode == 0
    assert "aten::zeros" in {event["name"] for event in events(tmp_path)}


@pytest.mark.parametrize(
    ("program", "arguments", "options", "reason"),
    [
        ("pass", (), (), "did not import torch"),
        ("import torch; torch.zeros(3)", (), (), "ran no module and no optimizer"),
        (TRAIN, ("4",), ("--steps", "5:1:1"), "ended after 4 optimizer steps"),
    ],
)
def test_when_nothing_was_recorded_the_reason_is_told(
    tmp_path: Path, program: str, arguments: tuple[str, ...], options: tuple[str, ...], reason: str
) -> None:
    """And the program has run all the same."""
    ended = record(tmp_path, program, *arguments, options=options)
    assert ended.returncode == 0
    assert reason in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("then", "code"), [("fail", 5), ("interrupt", -2)])
def test_a_program_that_breaks_off_ends_as_ever_and_is_recorded(tmp_path: Path, then: str, code: int) -> None:
    """Its exit code, or its death by Ctrl-C."""
    assert record(tmp_path, TRAIN, "2", then).returncode == code
    assert steps(tmp_path) == [0, 1]


@pytest.mark.parametrize("what", ["module", "method", "function"])
def test_compiled_programs_compile_as_ever(tmp_path: Path, what: str) -> None:
    """One graph, no break, no warning; the steps are there."""
    ended = record(tmp_path, COMPILED, what, options=("--steps", "1:1:2"))
    assert ended.returncode == 0, ended.stderr
    assert "1 {}" in ended.stdout
    assert steps(tmp_path) == [2, 3]


def test_workers_of_a_data_loader_are_left_alone(tmp_path: Path) -> None:
    """They are copies of the process, and write nothing."""
    program = (
        "import torch\nfrom torch.utils.data import DataLoader\nmodel = torch.nn.Linear(8, 4)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "if __name__ == '__main__':\n"
        "    for batch in DataLoader(torch.randn(12, 8), batch_size=2, num_workers=2):\n"
        "        model(batch).sum().backward(); optimizer.step()\n"
    )
    ended = record(tmp_path, program)
    assert ended.returncode == 0, ended.stderr
    assert steps(tmp_path) == [3, 4, 5]
