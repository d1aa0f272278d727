"""Record a program while it runs, and import the recording.

Nsight Systems records if nsys is on the PATH, otherwise the PyTorch profiler; the program needs no change for either.
Under torchrun, mpirun and similar launchers every rank gets a profile of its own. The results, with an event file for
TensorBoard, go to a new folder below dlprof-runs. The exit code is that of the program. Ctrl-C ends the program, and
what was recorded until then is imported.

    dlprof run -- python train.py --epochs 1
    dlprof run --with torch --steps 10:2:5 -- torchrun --nproc-per-node 4 train.py
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.import_profiles import KERNEL_RULES_HELP
from tensorboard_plugin_dlprof.cli.importing import Job, import_all, options_of
from tensorboard_plugin_dlprof.cli.iterations import add_aggregated, aggregated
from tensorboard_plugin_dlprof.cli.messages import say, tell
from tensorboard_plugin_dlprof.cli.recording import NO_NSYS, SAFE_CSV_HELP, rank_prefix, report_files
from tensorboard_plugin_dlprof.cli.usage import WrongUsage, checking_options
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError
from tensorboard_plugin_dlprof.opening.option_values import named_path, words

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.classify.rules.rule import Rule
    from tensorboard_plugin_dlprof.reports.catalog import Report
    from tensorboard_plugin_dlprof.running.record import Recorded, Recorder

RUNS = "dlprof-runs"

EPILOG = (
    "Exit codes: those of the program (128 + n if signal n ended it). If it succeeded: 1 nothing was imported,\n"
    "3 some of several recordings were not imported. 2 wrong usage."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--with",
        dest="recorder",
        choices=("nsys", "torch"),
        help="which profiler to use (default: nsys if it is installed)",
    )
    parser.add_argument("-o", "--output-dir", metavar="DIR", type=named_path, help=f"default: {RUNS}/<date>-<time>")
    parser.add_argument("--force", action="store_true", help="replace what is there instead of numbering")
    parser.add_argument("--key-op", metavar="NAME", help="name or id of the op that ends each iteration")
    add_aggregated(parser)
    parser.add_argument("--profile-name", metavar="NAME", default="", help="title of the profile")
    parser.add_argument("--kernel-rules", metavar="FILE", default="", help=KERNEL_RULES_HELP)
    parser.add_argument("--reports", metavar="LIST", default="", help="reports to write, or all (default: none)")
    parser.add_argument("--formats", metavar="LIST", default="csv", help="formats of the reports (default: csv)")
    parser.add_argument("--safe-csv", action="store_true", help=SAFE_CSV_HELP)
    nsys = parser.add_argument_group("with Nsight Systems")
    nsys.add_argument(
        "--delay", metavar="SECONDS", type=_seconds, default=0, help="start recording after this many seconds"
    )
    nsys.add_argument(
        "--duration",
        metavar="SECONDS",
        type=_seconds,
        default=0,
        help="record for this many seconds (default: to the end)",
    )
    nsys.add_argument(
        "--capture-range", action="store_true", help="record from cudaProfilerStart to cudaProfilerStop only"
    )
    nsys.add_argument(
        "--nsys-opts", metavar="OPTIONS", default="", help="more options for nsys profile, quoted as one word"
    )
    torch = parser.add_argument_group("with the PyTorch profiler")
    torch.add_argument(
        "--steps",
        metavar="WAIT:WARMUP:ACTIVE|all",
        help="optimizer steps to skip, to warm up and to record (default: skip three and record ten, or record "
        "all of a shorter program), or all: the whole program",
    )
    torch.add_argument("--no-shapes", action="store_true", help="do not record the shapes of tensors")
    torch.add_argument("--stacks", action="store_true", help="record Python stacks; slows the program down")
    torch.add_argument(
        "--modules", action="store_true", help="record the modules that call the ops; slows the program down"
    )
    torch.add_argument("--memory", action="store_true", help="record memory allocations")
    parser.add_argument("program", metavar="-- PROGRAM", nargs=argparse.REMAINDER, help="and its arguments")


def _seconds(text: str) -> float:
    from tensorboard_plugin_dlprof.cli.compatible_options import seconds

    try:
        return seconds(text)
    except ValueError as wanted:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}") from None


def run(arguments: argparse.Namespace) -> int:
    """Run the program and import the recording. Returns the program's exit code, or ours if only the import failed."""
    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.reports.catalog import selected_reports
    from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, checked_prefix, selected_formats
    from tensorboard_plugin_dlprof.running.record import Destination, record

    command = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not any(command[:1]):
        raise WrongUsage("No program is given; put it after the options, as in `dlprof run -- python train.py`.")
    # Wrong options are reported now, not after the program has run for hours.
    aggregated(arguments, typical=True)
    with checking_options():
        reports, formats = selected_reports(words(arguments.reports)), selected_formats(words(arguments.formats))
        if reports:
            checked_prefix(arguments.profile_name or DEFAULT_PREFIX)
        recorder = _recorder(arguments)
    rules = load_rules(arguments.kernel_rules)
    folder = arguments.output_dir or Path(RUNS, time.strftime("%Y%m%d-%H%M%S"))
    recorded = record(command, recorder, Destination(folder, replace=arguments.force))
    for error in recorded.errors:
        say(f"error: {error}")
    if recorded.terminated:
        say(f"ended by a signal: nothing is imported; what was recorded is in {folder}")
        return recorded.code or exit_codes.FAILURE
    code = _import(recorded, arguments, rules, reports, formats, folder)
    return recorded.code or code


def _recorder(arguments: argparse.Namespace) -> Recorder:
    from tensorboard_plugin_dlprof.cli.compatible_options import split_options
    from tensorboard_plugin_dlprof.running.nsight import NsightOptions, find_nsys
    from tensorboard_plugin_dlprof.running.record import Recorder

    nsys = None if arguments.recorder == "torch" else find_nsys()
    if arguments.recorder == "nsys" and nsys is None:
        raise NotFound(
            "Nsight Systems (nsys) is not on the PATH; install it, or let the PyTorch profiler record with "
            "`--with torch`."
        )
    if nsys is None:
        _only_with("Nsight Systems", "--steps", arguments, ("delay", "duration", "capture_range", "nsys_opts"))
        if arguments.recorder is None:
            say(NO_NSYS)
        return Recorder(None, torch_arguments=_torch_arguments(arguments))
    names = ("steps", "no_shapes", "stacks", "modules", "memory")
    _only_with("the PyTorch profiler (--with torch)", "--delay, --duration or --nsys-opts", arguments, names)
    options = NsightOptions(
        delay_s=arguments.delay,
        duration_s=arguments.duration,
        capture_range=arguments.capture_range,
        extra=split_options(arguments.nsys_opts, "--nsys-opts"),
    )
    return Recorder(nsys, options)


def _only_with(who: str, instead: str, arguments: argparse.Namespace, names: Sequence[str]) -> None:
    for name in names:
        if getattr(arguments, name):
            raise BadRequest(
                f"--{name.replace('_', '-')} is an option of {who}, which is not used here; "
                f"leave it out, or use {instead}."
            )


def _torch_arguments(arguments: argparse.Namespace) -> tuple[str, ...]:
    from tensorboard_plugin_dlprof.running.torch_recorder import step_counts

    given = [f"--{name}" for name in ("stacks", "modules", "memory") if getattr(arguments, name)]
    if arguments.no_shapes:
        given.append("--no-shapes")
    if arguments.steps:
        try:
            step_counts(arguments.steps)
        except argparse.ArgumentTypeError as error:
            raise BadRequest(f"--steps {error}.") from None
        given += ["--steps", arguments.steps]
    return tuple(given)


def _import(
    recorded: Recorded,
    arguments: argparse.Namespace,
    rules: tuple[Rule, ...],
    reports: list[Report],
    formats: list[str],
    folder: Path,
) -> int:
    from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, Target

    if not recorded.sources:
        say("error: nothing was recorded, so there is nothing to import.")
        return exit_codes.FAILURE
    options = options_of(arguments, rules)
    jobs = [Job(source, folder / database_name(source.name), force=True) for source in recorded.sources]
    done = import_all(jobs, options, scalars=False)
    for job in jobs:
        if job.database.exists() and reports:
            prefix = rank_prefix(arguments.profile_name or DEFAULT_PREFIX, job.source, len(jobs) == 1)
            target = Target(folder, prefix, arguments.force, arguments.safe_csv)
            try:
                for path in report_files(job.database, reports, formats, target):
                    tell(str(path))
            except ProfileError as error:
                say(f"error: {error}")
                done = min(done, len(jobs) - 1)
    if done:
        logdir = folder.parent if arguments.output_dir is None else folder
        say(f"see it with: tensorboard --logdir {shlex.quote(str(logdir))}")
    if done == len(jobs) and not recorded.errors:
        return exit_codes.SUCCESS
    return exit_codes.SOME_FAILED if done else exit_codes.FAILURE
