"""The command line of NVIDIA's DLProf 1.8: ``dlprof --mode=pytorch --database=nsys_profile.sqlite --reports=all``, and
``dlprof [options] python train.py``. File names, numbering and the order of what is printed are those of 1.8.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.compatible_options import SIMPLE, CommandLine, help_text, parse, split_options
from tensorboard_plugin_dlprof.cli.messages import DEBUG_VARIABLE, say
from tensorboard_plugin_dlprof.cli.recording import NO_NSYS, rank_prefix, report_files
from tensorboard_plugin_dlprof.cli.usage import checking_options
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError
from tensorboard_plugin_dlprof.opening.option_values import words
from tensorboard_plugin_dlprof.opening.outputs import make_folder

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.cli.compatible_console import Console
    from tensorboard_plugin_dlprof.running.record import Recorder

DATABASE_STEM = "dlprof_dldb"


def is_meant(line: Sequence[str]) -> bool:
    """Whether a command line without one of our commands is DLProf 1.8's: it begins with an option or a program."""
    if not line or line[0] in ("-h", "--help", "-V", "--version"):
        return False
    return line[0].startswith("-") or shutil.which(line[0]) is not None


def arguments(line: Sequence[str], commands: Container[str]) -> argparse.Namespace:
    """The argument of ``run``. Like argparse, ends the process after printing help or what is wrong."""
    if any(word in ("-h", "--help") for word in _options(line)):
        print(help_text())
        raise SystemExit(exit_codes.SUCCESS)
    try:
        parsed = parse(line)
        if not parsed.program and not parsed.text("database"):
            raise BadRequest("Name a program to run, or an export with --database.")
        if parsed.program and parsed.program[0] in commands and shutil.which(parsed.program[0]) is None:
            raise BadRequest(f"Put the command first: `dlprof {parsed.program[0]} ...`.")
    except BadRequest as error:
        print("usage: dlprof [options] PROGRAM [arguments]\n       dlprof --database=EXPORT [options]", file=sys.stderr)
        say(f"error: {error}")
        raise SystemExit(exit_codes.USAGE) from None
    return argparse.Namespace(command="", run=run, line=parsed)


def _options(line: Sequence[str]) -> list[str]:
    """The options before the program, roughly: the first word without a dash, even a value, ends them."""
    options = []
    for word in line:
        if word == "--" or not word.startswith("-"):
            break
        options.append(word)
    return options


def run(namespace: argparse.Namespace) -> int:
    """Record the program unless an export is named, import, write the reports and print the findings."""
    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.cli.compatible_console import DIAGNOSTIC, Console
    from tensorboard_plugin_dlprof.reports.catalog import selected_reports
    from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, checked_prefix, selected_formats

    line: CommandLine = namespace.line
    console = Console(line.text("verbosity"))
    if console.level >= DIAGNOSTIC:
        os.environ[DEBUG_VARIABLE] = "1"
    # Wrong options are reported before the program runs, perhaps for hours.
    with checking_options():
        if selected_reports(words(line.text("reports"))):
            checked_prefix(line.text("profile_name") or DEFAULT_PREFIX)
        selected_formats(words(line.text("formats")))
        _check_range(line)
    load_rules("")
    for sentence in line.ignored():
        say(f"warning: {sentence}")
    folder = Path(line.text("output_path") or ".")
    code, sources = _sources(line, folder, console)
    if not sources:
        say("error: there is nothing to import.")
        return code or exit_codes.FAILURE
    failed = 0
    for number, source in enumerate(sources):
        try:
            _import(line, source, folder, console, number, alone=len(sources) == 1)
        except ProfileError as error:
            say(f"error: {error}")
            failed += 1
    if failed and not code:
        return exit_codes.FAILURE if failed == len(sources) else exit_codes.SOME_FAILED
    return code


def _check_range(line: CommandLine) -> None:
    first, last = line.iteration("iter_start"), line.iteration("iter_stop")
    if first is not None and last is not None and first > last:
        raise BadRequest(f"--iter_start={first} is after --iter_stop={last}; give them in order.")


def _sources(line: CommandLine, folder: Path, console: Console) -> tuple[int, list[Path]]:
    """The exit code so far, and the files to import: the named export, or what recording the program produced."""
    from tensorboard_plugin_dlprof.running.record import Destination, record

    if named := line.text("database"):
        if not Path(named).exists():
            raise NotFound(f"{named}: there is no such file; --database takes the SQLite export of Nsight Systems.")
        if line.program:
            console.step(f"{line.program[0]} is not run, because --database names a recording")
        return exit_codes.SUCCESS, [Path(named)]
    with checking_options():
        recorder = _recorder(line)
    recorded = record(
        line.program, recorder, Destination(folder, line.text("nsys_base_name"), replace=line.switch("force"))
    )
    for error in recorded.errors:
        say(f"error: {error}")
    console.step(f"The program has ended with code {recorded.code}")
    if recorded.terminated:
        say(f"ended by a signal: nothing is imported; what was recorded is in {folder}")
        return recorded.code or exit_codes.FAILURE, []
    return recorded.code or (exit_codes.SOME_FAILED if recorded.errors else exit_codes.SUCCESS), recorded.sources


def _recorder(line: CommandLine) -> Recorder:
    from tensorboard_plugin_dlprof.running.nsight import NsightOptions, find_nsys
    from tensorboard_plugin_dlprof.running.record import Recorder

    base = line.text("nsys_base_name")
    if not base or Path(base).name != base or base.startswith("-"):
        raise BadRequest(f"--nsys_base_name={base[:60]} cannot be the name of a file; choose one without slashes.")
    extra = split_options(line.text("nsys_opts"))
    nsys = find_nsys()
    if nsys is not None:
        options = NsightOptions(
            delay_s=line.seconds("delay"),
            duration_s=line.seconds("duration"),
            capture_range=line.switch("nsys_profile_range"),
            trace=(),
            extra=extra,
        )
        return Recorder(nsys, options)
    ignored = sorted(line.given & {"delay", "duration", "nsys_opts", "nsys_profile_range"})
    say(NO_NSYS + (f" It does not use --{', --'.join(ignored)}." if ignored else ""))
    return Recorder(None, torch_arguments=_steps_to_record(line))


def _steps_to_record(line: CommandLine) -> tuple[str, ...]:
    """Options that make the PyTorch profiler record the iterations to aggregate, which it numbers as DLProf does.

    With a key op, iterations are counted from the start of the recording, so it starts at the first one.
    """
    from tensorboard_plugin_dlprof.running.torch_recorder import TYPICAL_STEPS

    start, stop = line.iteration("iter_start"), line.iteration("iter_stop")
    if start is None and stop is None:
        return ()
    first = start or 0
    last = first + TYPICAL_STEPS - 1 if stop is None else stop
    return ("--range", f"{0 if line.text('key_op') else first}:{last}")


def _import(line: CommandLine, source: Path, folder: Path, console: Console, number: int, alone: bool) -> None:
    from tensorboard_plugin_dlprof.cli.compatible_console import MINIMAL
    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.reports.catalog import selected_reports
    from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, Target, selected_formats
    from tensorboard_plugin_dlprof.run_metadata.announce import announce

    force = line.switch("force")
    make_folder(folder)
    database = _free_database(folder, number if force else None)
    key_op = _imported(line, source, database, console)
    if not line.switch("suppress_tb_files"):
        announce(database, alone=alone)
    with opened_database(database) as connection:
        scope = find_scope(connection)
        console.iterations(connection, scope, key_op)
        console.step("Aggregating the profile data")
        console.step(f"Creating the DLProf database at {database}", MINIMAL)
        console.step("Writing profile data to the DLProf database")
        console.step("Writing aggregated data to the DLProf database")
    reports, formats = selected_reports(words(line.text("reports"))), selected_formats(words(line.text("formats")))
    prefix = rank_prefix(line.text("profile_name") or DEFAULT_PREFIX, source, alone)
    if reports:
        for path in report_files(database, reports, formats, Target(folder, prefix, force)):
            console.step(f"Writing report to {path}", MINIMAL)
    with opened_database(database) as connection:
        console.expert_systems(connection, find_scope(connection))


def _imported(line: CommandLine, source: Path, database: Path, console: Console) -> str:
    """Import the source; returns the key op that was used, empty if none."""
    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.cli.compatible_console import DETAILED, NORMAL
    from tensorboard_plugin_dlprof.opening.masking import mask_arguments
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    mode = line.text("mode")
    options = ImportOptions(
        key_op=line.text("key_op") or None,
        iter_start=line.iteration("iter_start"),
        iter_stop=line.iteration("iter_stop"),
        profile_name=line.text("profile_name"),
        original_command=mask_arguments(["dlprof", *sys.argv[1:]]),
        lenient=True,
        kernel_rules=load_rules(""),
        simple=mode == SIMPLE,
    )
    console.step(f"Initializing the database of the recording, {source}")
    result = import_source(source, database, options, console.reading)
    console.step("Correlating ops with the timeline")
    for warning in result.warnings:
        if console.level >= NORMAL:
            say(f"warning: {source}: {warning}")
    console.step(f"Mode {mode}, key op {result.key_op or 'none'}", DETAILED)
    return result.key_op


def _free_database(folder: Path, replaced: int | None) -> Path:
    """The first free name of ``dlprof_dldb.sqlite``, ``dlprof_dldb_1.sqlite`` ...; with ``replaced``, that number's."""
    number = replaced or 0
    while True:
        path = folder / f"{DATABASE_STEM}{f'_{number}' if number else ''}.sqlite"
        if replaced is not None or not os.path.lexists(path):
            return path
        number += 1
