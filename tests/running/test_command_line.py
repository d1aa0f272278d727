"""Where a recorder is put into a command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.running.command_line import with_command_for_each_rank, with_recorder
from tests.running.programs import executable

PLACES = [
    ("python train.py --lr 1", "python REC train.py --lr 1"),
    ("python3.11 -u -X dev -W error train.py", "python3.11 -u -X dev -W error REC train.py"),
    ("/opt/env/bin/python -m package.train -m 2", "/opt/env/bin/python REC -m package.train -m 2"),
    ("python -c 'print(1)' x", "python REC -c 'print(1)' x"),
    ("env A=1 python train.py", "env A=1 python REC train.py"),
    ("torchrun --nproc_per_node 2 train.py --nnodes 3", "torchrun --nproc_per_node 2 REC train.py --nnodes 3"),
    ("torchrun --standalone -r 3 -m package.train", "torchrun --standalone -r 3 REC -m package.train"),
    ("torchrun --no_python --nnodes 1 python -u t.py", "torchrun --no_python --nnodes 1 python -u REC t.py"),
    ("python -m torch.distributed.run --nnodes 1 t.py a", "python -m torch.distributed.run --nnodes 1 REC t.py a"),
    (
        "srun -n4 python -u -m torch.distributed.launch --use_env --nproc_per_node=8 t.py",
        "srun -n4 python -u -m torch.distributed.launch --use_env --nproc_per_node=8 REC t.py",
    ),
    ("mpirun -np 2 --map-by node python train.py", "mpirun -np 2 --map-by node python REC train.py"),
    ("accelerate launch --num_processes 2 t.py config.py", "accelerate launch --num_processes 2 REC t.py config.py"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), PLACES)
def test_the_recorder_stands_between_python_and_its_program(command: str, expected: str) -> None:
    """Whoever starts Python."""
    assert with_recorder(shlex.split(command), ["REC"]) == shlex.split(expected)


def test_an_installed_command_is_run_by_its_own_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first line names it; a configuration that ends in .py is no program."""
    command = executable(tmp_path / "bin" / "fit", "#!/opt/env/bin/python3\n")
    monkeypatch.setenv("PATH", str(command.parent))
    expected = ["/opt/env/bin/python3", "REC", str(command), "config.py"]
    assert with_recorder(["fit", "config.py"], ["REC"]) == expected


@pytest.mark.parametrize(
    "command", ["./a.out", "sh -c ls", "python", "python -u -", "python -m", "torchrun --nnodes 1"]
)
def test_a_command_without_a_python_program_is_refused(command: str) -> None:
    """With what to do."""
    with pytest.raises(BadRequest, match=r"python train\.py|name"):
        with_recorder(command.split(), ["REC"])


RANKS = [
    ("torchrun --nnodes 1 train.py x", "torchrun --nnodes 1 --no_python NSYS python -u train.py x"),
    ("torchrun -m --nnodes=1 package.train", "torchrun --nnodes=1 --no_python NSYS python -u -m package.train"),
    ("torchrun --no-python ./a.out x", "torchrun --no_python NSYS ./a.out x"),
    ("p/python -m torch.distributed.run t.py", "p/python -m torch.distributed.run --no_python NSYS p/python -u t.py"),
    ("mpirun -np 2 -x A --map-by node python -u t.py", "mpirun -np 2 -x A --map-by node NSYS python -u t.py"),
    ("srun -n 2 sh t.sh", "srun -n 2 NSYS sh t.sh"),
]


@pytest.mark.parametrize(("command", "expected"), RANKS)
def test_nsight_systems_stands_before_what_each_rank_runs(
    command: str, expected: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that each gets a report of its own."""
    assert with_command_for_each_rank(command.split(), ["NSYS"]) == expected.split()


@pytest.mark.parametrize("command", ["python train.py mpirun.py", "./a.out", "python -m package torchrun_like"])
def test_a_single_process_has_no_ranks(command: str) -> None:
    """Then Nsight Systems is put before the whole command."""
    assert with_command_for_each_rank(command.split(), ["NSYS"]) is None
