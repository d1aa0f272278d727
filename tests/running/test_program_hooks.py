"""Programs that were made for DLProf, or that profile themselves, under the PyTorch recorder."""

from __future__ import annotations

from pathlib import Path

from tests.running.recording import events, record, steps

LOOP = """
import torch
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters())
def train(steps):
    for _ in range(steps):
        model(torch.randn(2, 8)).sum().backward()
        optimizer.step()
"""

MADE_FOR_DLPROF = f"""
import nvidia_dlprof_pytorch_nvtx
nvidia_dlprof_pytorch_nvtx.init(enable_function_stack=True)
{LOOP}
with torch.autograd.profiler.emit_nvtx():
    train(8)
print("done")
"""

PROFILED_LATE = f"""{LOOP}
train(5)
with torch.profiler.profile() as own:
    train(2)
print("Optimizer.step#SGD.step" in {{event.key for event in own.key_averages()}})
"""

PROFILED_EARLY = f"""{LOOP}
with torch.autograd.profiler.profile() as own:
    train(5)
print("Optimizer.step#SGD.step" in {{event.key for event in own.key_averages()}})
"""

WITH_MODULE = """
import nvidia_dlprof_pytorch_nvtx as markers
print(markers.init())
"""


def test_a_program_made_for_dlprof_is_recorded(tmp_path: Path) -> None:
    """Its markers would need Nsight Systems, and be in the way of the profiler; the program sees no difference."""
    ended = record(tmp_path, MADE_FOR_DLPROF)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
    assert steps(tmp_path) == [3, 4, 5, 6, 7]


def test_the_package_of_markers_is_the_programs_own_where_there_is_one(tmp_path: Path) -> None:
    """Ours only fills the gap."""
    (tmp_path / "nvidia_dlprof_pytorch_nvtx.py").write_text("def init():\n    return 'genuine'\n")
    assert record(tmp_path, WITH_MODULE).stdout == "genuine\n"


def test_a_program_that_profiles_itself_gets_all_of_it(tmp_path: Path) -> None:
    """What was recorded until then is kept, and the message says so."""
    ended = record(tmp_path, PROFILED_LATE)
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
    assert "starts the PyTorch profiler itself, so the recording ends there" in ended.stderr
    assert steps(tmp_path) == [3, 4]
    assert [event["name"] for event in events(tmp_path)].count("Optimizer.step#SGD.step") == 2


def test_a_program_that_profiles_itself_from_the_start_is_left_alone(tmp_path: Path) -> None:
    """Two profilers in one thread would leave it with an empty one."""
    ended = record(tmp_path, PROFILED_EARLY)
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
    assert "import the trace that the program writes" in ended.stderr
    assert not (tmp_path / "out").exists()
