"""Runs a Python program, unchanged, while the PyTorch profiler records it.

``python -m tensorboard_plugin_dlprof.running.torch_recorder [options] script.py arguments``, or ``-m module``.
``dlprof run`` starts this file by its path instead, with the interpreter of the program, which need not have our
package. Therefore this module and ``program_hooks`` beside it use only the standard library and, once the program has
imported it, torch.

The recording begins with the first forward pass of a module, when the program has chosen its device, and a step ends
with each step of the first optimizer. Without ``--steps``, a recording of the first steps is kept only if the program
ends before the wanted range.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import socket
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

UNTYPICAL_STEPS = 3
"""Number of steps at the start of a program that reserve memory, choose kernels and compile code."""

TYPICAL_STEPS = 10
"""Number of steps that are recorded after those by default."""

TYPICAL_RANGE = (UNTYPICAL_STEPS, UNTYPICAL_STEPS + TYPICAL_STEPS - 1)
"""First and last step that are recorded by default, counted from 0."""

WHOLE = "all"
"""``--steps all``: from the import of torch to the end of the program."""

RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
"""Environment variables in which launchers store the rank of a process; torchrun's comes first."""

VALUE_OPTIONS = ("--output-dir", "--steps", "--range")
FAILURE = 1


def _load_sibling(name: str) -> Any:
    """Load a module of this folder under a name that cannot hide one of the program's modules."""
    spec = importlib.util.spec_from_file_location(f"_dlprof_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hooks = _load_sibling("program_hooks")


def main(argv: Sequence[str] | None = None) -> None:
    """Record the program that the command line names; it ends as it would have ended without us."""
    options, program = parse(sys.argv[1:] if argv is None else argv)
    if importlib.util.find_spec("torch") is None:
        say(
            f"error: {sys.executable} has no PyTorch: install it there (pip install torch), or install Nsight Systems, "
            "which records any program."
        )
        sys.exit(FAILURE)
    recording = Recording(options)
    os.register_at_fork(after_in_child=recording.forget)
    hooks.after_import("torch", recording.attach)
    sys.meta_path.append(hooks.EmptyMarkers())
    try:
        run(program)
    finally:
        recording.finish()


def parse(argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split a command line into our options and the program with its own arguments."""
    parser = argparse.ArgumentParser(
        prog="torch_recorder",
        usage="%(prog)s [options] script.py [arguments]\n       %(prog)s [options] -m module [arguments]",
        allow_abbrev=False,
    )
    parser.add_argument("--output-dir", metavar="DIR", default=".")
    parser.add_argument("--steps", type=step_counts, metavar="WAIT:WARMUP:ACTIVE|all")
    parser.add_argument("--range", type=step_range, metavar="FIRST:LAST", default=TYPICAL_RANGE)
    parser.add_argument("--no-shapes", dest="shapes", action="store_false")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--modules", action="store_true")
    parser.add_argument("--memory", action="store_true")
    position = 0
    while position < len(argv) and argv[position].startswith("-") and argv[position] not in ("--", "-m", "-c"):
        position += 2 if argv[position] in VALUE_OPTIONS else 1
    program = list(argv[position:])
    if program[:1] == ["--"]:
        del program[0]
    options = parser.parse_args(argv[:position])
    if not program or (program[0] in ("-m", "-c") and len(program) < 2):
        parser.error("no program is given")
    return options, program


def step_counts(text: str) -> tuple[int, int, int] | str:
    """``"1:2:5"`` -> ``(1, 2, 5)``: numbers of steps to skip, to warm up and to record."""
    if text == WHOLE:
        return WHOLE
    counts = text.split(":")
    if len(counts) != 3 or not all(count.isascii() and count.isdigit() for count in counts) or not int(counts[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form WAIT:WARMUP:ACTIVE, such as 5:2:10, or 'all'")
    return int(counts[0]), int(counts[1]), int(counts[2])


def step_range(text: str) -> tuple[int, int]:
    """``"20:80"`` -> ``(20, 80)``: the first and the last step to record, counted from 0."""
    first, _, last = text.partition(":")
    if not all(count.isascii() and count.isdigit() for count in (first, last)) or int(first) > int(last):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FIRST:LAST, such as 20:80")
    return int(first), int(last)


def run(program: list[str]) -> None:
    """Run a script, a module (``-m``) or a piece of code (``-c``) as the main program."""
    path_is_ours = not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated
    if program[0] in ("-m", "-c"):
        sys.argv = [program[0], *program[2:]]
        if path_is_ours:
            sys.path[0] = os.getcwd() if program[0] == "-m" else ""  # noqa: PTH109  as Python itself does
        if program[0] == "-m":
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            exec(compile(program[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
        return
    sys.argv = list(program)
    if path_is_ours:
        sys.path[0] = str(Path(program[0]).resolve().parent)
    runpy.run_path(program[0], run_name="__main__")


class Recording:
    """The profiler of this process, from its start to the file that it writes.

    An error in here ends the recording with a message, but never the program.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._spare_steps = 0 if options.steps else min(options.range[0], UNTYPICAL_STEPS)
        """Number of first steps whose recording is kept if no other steps follow."""
        self._profiler: Any = None
        self._forward_hook: Any = None
        self._optimizer_hook: Any = None
        self._optimizer: Callable[[], Any] = lambda: None
        self._steps = 0
        self._pending = False
        """Whether the optimizer has stepped, and the program's step ends at the next forward pass."""
        self._compiles = False
        self._has_file = False
        """Whether a file was written, perhaps of untypical steps, which a better one replaces."""
        self._written = False
        self._over = False
        self._attached = False

    def attach(self) -> None:
        """Wait for the program's first forward pass and its optimizer's steps; called once torch is imported."""
        self._attached = True
        self._guarded(self._attach)

    def _attach(self) -> None:
        from torch.optim import optimizer

        hooks.before_compiling(self._compilation_begins)
        hooks.without_markers()
        hooks.before_other_profilers(lambda profiler: profiler is self._profiler, self._give_way)
        if self._options.steps == WHOLE:
            self._start()
        else:
            self._await_forward()
        if hasattr(optimizer, "register_optimizer_step_post_hook"):
            self._optimizer_hook = optimizer.register_optimizer_step_post_hook(self._optimizer_stepped)
        else:
            say("this PyTorch does not report optimizer steps (2.1 and newer do), so they do not mark iterations")

    def _compilation_begins(self) -> None:
        self._compiles = True
        self._detach_forward()

    def _give_way(self) -> None:
        """End our recording, as the program profiles itself and must get the result that it would get alone."""
        if self._over:
            return
        if self._profiler is not None:
            self._guarded(self._profiler.stop)
        self._over = True
        self._detach()
        say(
            "the program starts the PyTorch profiler itself, so the recording ends"
            f"{' there' if self._has_file else ' before it has begun; import the trace that the program writes'}."
        )

    def forget(self) -> None:
        """Record nothing in a forked process, such as a worker of a data loader."""
        self._over = True

    def finish(self) -> None:
        """End the recording, writing what has not been written yet, and say why if nothing was recorded."""
        if self._over:
            return
        if self._profiler is not None:
            self._guarded(self._profiler.stop)
        self._detach()
        if not self._has_file:
            say(f"nothing was recorded: {self._reason()}")

    def _reason(self) -> str:
        if not self._attached:
            return (
                "the program did not import torch in this process; Nsight Systems also records the processes that it "
                "starts."
            )
        if self._profiler is None:
            return (
                "the program ran no module and no optimizer in its main thread; --steps all records the whole program, "
                "and Nsight Systems also records the processes that it starts."
            )
        return f"the program ended after {self._steps} optimizer steps; give fewer with --steps."

    def _await_forward(self) -> None:
        """Hook the next forward pass only, since a hook for all modules costs time in each of them.

        If the program compiles anything, there is no such hook, since the compiler would warn of it or compile twice.
        Steps then end within the range of the optimizer, a few microseconds before its end.
        """
        from torch.nn.modules.module import register_module_forward_pre_hook

        if self._forward_hook is None and not self._compiles:
            self._forward_hook = register_module_forward_pre_hook(self._forward_begins)

    def _forward_begins(self, *_arguments: Any) -> None:
        """Start recording or end a step here, because the hook for optimizers is called inside their range."""
        if self._over or threading.current_thread() is not threading.main_thread():
            return
        self._detach_forward()
        self._guarded(self._end_step if self._pending else self._start)

    def _optimizer_stepped(self, optimizer: Any, _arguments: Any, _keywords: Any) -> None:
        """Count a step of the first optimizer; those of others (a discriminator's) belong to the same step."""
        if self._over or threading.current_thread() is not threading.main_thread():
            return
        if self._optimizer() is None:
            self._optimizer = weakref.ref(optimizer)
        if self._optimizer() is not optimizer:
            return
        self._steps += 1
        begun = self._profiler is not None
        if self._pending or self._compiles or not begun:
            self._guarded(self._end_step)
        self._pending = begun and not self._compiles and not self._over
        if self._pending:
            self._guarded(self._await_forward)

    def _start(self) -> None:
        if self._profiler is not None:
            return
        if hooks.other_profiler_runs():
            self._give_way()
            return
        from torch import profiler

        self._profiler = profiler.profile(
            activities=profiler.supported_activities(),
            schedule=self._schedule(),
            on_trace_ready=self._ready,
            record_shapes=self._options.shapes,
            with_stack=self._options.stacks or self._options.modules,
            with_modules=self._options.modules,
            profile_memory=self._options.memory,
        )
        self._profiler.start()

    def _schedule(self) -> Callable[[int], Any]:
        from torch.profiler import ProfilerAction, schedule

        steps = self._options.steps
        if steps == WHOLE:
            return lambda _step: ProfilerAction.RECORD
        if steps:
            wait, warmup, active = steps
            return schedule(wait=wait, warmup=warmup, active=active, repeat=1)  # type: ignore[no-any-return]
        first, last = self._options.range

        def action(step: int) -> Any:
            if self._spare_steps <= step < first - 1 or step > last:
                return ProfilerAction.NONE
            if self._spare_steps <= step < first:
                return ProfilerAction.WARMUP
            return ProfilerAction.RECORD_AND_SAVE if step in (self._spare_steps - 1, last) else ProfilerAction.RECORD

        return action

    def _end_step(self) -> None:
        self._pending = False
        if self._profiler is None:
            self._start()
            return
        self._profiler.step()
        if self._written:
            self._over = True
            self._profiler.stop()
            self._detach()

    def _ready(self, profiler: Any) -> None:
        """Write the recording; called at the end of each recorded part of the schedule, and when the program ends."""
        untypical = 0 < self._spare_steps == profiler.step_num and not self._has_file
        if self._has_file and self._steps <= self._spare_steps:
            return  # Only an evaluation came after the first steps, which are better than none.
        path = self._path()
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part.gz")
        try:
            profiler.export_chrome_trace(str(part))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        self._has_file = True
        self._written = not untypical

    def _path(self) -> Path:
        ranks = [os.environ[name] for name in RANK_VARIABLES if os.environ.get(name, "").isdigit()]
        rank = f".rank{ranks[0]}" if ranks else ""
        return Path(self._options.output_dir, f"{socket.gethostname()}_{os.getpid()}{rank}.pt.trace.json.gz")

    def _detach(self) -> None:
        self._detach_forward()
        if self._optimizer_hook is not None:
            self._optimizer_hook.remove()
            self._optimizer_hook = None

    def _detach_forward(self) -> None:
        if self._forward_hook is not None:
            self._forward_hook.remove()
            self._forward_hook = None

    def _guarded(self, act: Callable[[], Any]) -> None:
        try:
            with warnings.catch_warnings():
                # PyTorch warns of parts of the schedule that are dropped; a program may turn warnings into errors.
                warnings.simplefilter("ignore")
                act()
        except Exception as error:  # noqa: BLE001  an error of the recording must not end the program
            self._over = True
            say(f"error: the PyTorch profiler failed ({type(error).__name__}: {error}); nothing is recorded.")


def say(message: str) -> None:
    """Print a message in the form of those of ``dlprof``."""
    print(f"dlprof: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
