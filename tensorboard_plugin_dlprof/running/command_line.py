"""Inserts a recorder into a command line, after finding its launchers, its Python interpreter and its program.

PyTorch's recorder goes between Python and its program, Nsight Systems before Python. If a launcher starts one process
per rank, the recorder goes after the launcher, so that every rank is recorded separately.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest

RANK_LAUNCHERS = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "jsrun", "horovodrun"})
"""Launchers that start a command once per rank."""

SCRIPT_LAUNCHERS = frozenset({"accelerate", "deepspeed", "colossalai"})
"""Launchers that start a Python script: the first argument that ends in ``.py``."""

TORCH_MODULES = ("torch.distributed.run", "torch.distributed.launch")

TORCH_FLAGS = frozenset(
    {"-h", "--help", "--standalone", "-m", "--module", "--no-python", "--run-path", "--virtual-local-rank", "--use-env"}
)
"""Options of torchrun without a value; all others have one."""

PYTHON = re.compile(r"(python|pypy)(\d+(\.\d+)*)?t?(\.exe)?")

PYTHON_VALUE_OPTIONS = ("-W", "-X", "--check-hash-based-pycs")


class Launch(msgspec.Struct, frozen=True):
    """A command line, split where its Python program begins."""

    before: list[str]
    """Launcher, interpreter, and their options."""
    program: list[str]
    """``script.py ...``, ``-m module ...`` or ``-c code ...``."""


def with_recorder(words: Sequence[str], recorder: Sequence[str]) -> list[str]:
    """The command line with a recorder (a Python program and its options) between Python and the program.

    Raises:
        BadRequest: No Python program is found in the command.
    """
    launch = find_python(words)
    return [*launch.before, *recorder, *launch.program]


def rank_command_at(words: Sequence[str]) -> int | None:
    """Index of the first word of the command that a launcher starts once per rank; ``None`` without such a launcher."""
    for position, word in enumerate(words):
        if _name(word) not in RANK_LAUNCHERS:
            continue
        rest = range(position + 1, len(words))
        python = (at for at in rest if PYTHON.fullmatch(_name(words[at])))
        program = (at for at in rest if not words[at].startswith("-") and shutil.which(words[at]))
        return next(python, next(program, None))
    return None


def with_command_for_each_rank(words: Sequence[str], wrapper: Sequence[str]) -> list[str] | None:
    """The command line with ``wrapper`` before the command of each rank; ``None`` if it starts a single process."""
    torch = _torch_launcher(words)
    if torch is not None:
        at, script = torch
        options, module, python_is_named = _torch_options(words[at:script])
        command = list(words[script:])
        if not python_is_named:
            python = _interpreter_of(words, at)
            command = [python, "-u", *(["-m"] if module else []), *command]
        return [*words[:at], *options, "--no_python", *wrapper, *command]
    position = rank_command_at(words)
    return None if position is None else [*words[:position], *wrapper, *words[position:]]


def find_python(words: Sequence[str]) -> Launch:
    """Split a command line where its Python program begins.

    Raises:
        BadRequest: No Python program is found in the command.
    """
    torch = _torch_launcher(words)
    if torch is not None:
        return _below_torch(words, *torch)
    first = _name(words[0])
    if first in SCRIPT_LAUNCHERS:
        for position, word in enumerate(words):
            if position and word.endswith(".py"):
                return Launch(list(words[:position]), list(words[position:]))
    elif (script := _python_script(words[0])) is not None:
        interpreter, path = script
        return Launch(interpreter, [path, *words[1:]])
    for position, word in enumerate(words):
        if PYTHON.fullmatch(_name(word)):
            program = _after_python_options(words, position + 1)
            return Launch(list(words[:program]), list(words[program:]))
    raise BadRequest(
        f"{words[0]}: the PyTorch profiler records Python programs, and none was found in this command; name it as in "
        "`dlprof run -- python train.py`, or install Nsight Systems, which records any program."
    )


def _below_torch(words: Sequence[str], at: int, script: int) -> Launch:
    options, module, python_is_named = _torch_options(words[at:script])
    if python_is_named:
        inner = find_python(words[script:])
        return Launch([*words[:script], *inner.before], inner.program)
    program = [*(["-m"] if module else []), *words[script:]]
    return Launch([*words[:at], *options], program)


def _torch_launcher(words: Sequence[str]) -> tuple[int, int] | None:
    """Indices of torchrun's first option and of its program; ``None`` if torchrun is not used."""
    for position, word in enumerate(words):
        if _name(word) == "torchrun":
            return position + 1, _after_torch_options(words, position + 1)
        if word == "-m" and tuple(words[position + 1 : position + 2]) in {(name,) for name in TORCH_MODULES}:
            return position + 2, _after_torch_options(words, position + 2)
        if PYTHON.fullmatch(_name(word)):
            program = _after_python_options(words, position + 1)
            if words[program] != "-m" or words[program + 1] not in TORCH_MODULES:
                return None
    return None


def _after_torch_options(words: Sequence[str], position: int) -> int:
    while position < len(words) and words[position].startswith("-"):
        flag = words[position].replace("_", "-") in TORCH_FLAGS or "=" in words[position]
        position += 1 if flag or re.match(r"-[a-z].", words[position]) else 2
    if position >= len(words):
        raise BadRequest(f"{words[0]} is given no program to start; name it after the launcher's options.")
    return position


def _torch_options(options: Sequence[str]) -> tuple[list[str], bool, bool]:
    """The options without those that state the kind of the program; whether it is a module, and whether a command."""
    spelled = [option.replace("_", "-") for option in options]
    module = bool({"-m", "--module"} & set(spelled))
    drop = {"-m", "--module", "--run-path", "--no-python"}
    python_is_named = "--no-python" in spelled
    plain = [option for option, name in zip(options, spelled, strict=True) if name not in drop]
    return plain, module, python_is_named


def _after_python_options(words: Sequence[str], position: int) -> int:
    """Index after Python's own options: of a script, ``-m`` or ``-c``."""
    while position < len(words) and words[position].startswith("-") and words[position] not in ("-m", "-c", "-"):
        position += 2 if words[position] in PYTHON_VALUE_OPTIONS else 1
    named = words[position:]
    if not named or named[0] == "-" or (named[0] in ("-m", "-c") and len(named) < 2):
        raise BadRequest("Python is given no program to run; name a script, or a module with -m.")
    return position


def _interpreter_of(words: Sequence[str], options_at: int) -> str:
    """The interpreter with which torchrun starts its processes; ``options_at`` is the index of its first option."""
    if words[options_at - 1] in TORCH_MODULES:
        return next(word for word in words if PYTHON.fullmatch(_name(word)))
    script = _python_script(words[options_at - 1])
    return script[0][0] if script is not None else "python"


def _python_script(word: str) -> tuple[list[str], str] | None:
    """Interpreter and path of a program that is a Python script, like most installed commands; ``None`` for others."""
    program = shutil.which(word)
    if program is None:
        return None
    path = Path(program).absolute()
    try:
        with path.open("rb") as stream:
            line = stream.readline(4_096)
    except OSError:
        return None
    interpreter = line[2:].decode(errors="surrogateescape").split() if line.startswith(b"#!") else []
    if interpreter and Path(interpreter[0]).name == "env":
        del interpreter[0]
    if not interpreter or not PYTHON.fullmatch(Path(interpreter[0]).name):
        return None
    return interpreter, str(path)


def _name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2]
