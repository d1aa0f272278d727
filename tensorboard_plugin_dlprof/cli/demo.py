"""Show GPU SUMMARY with the bundled sample profiles: fill a log directory, import them, start TensorBoard.

The log directory is kept, so the next start is instant. Ctrl-C ends TensorBoard.
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.importing import Job, import_all, place_of_database
from tensorboard_plugin_dlprof.cli.messages import say
from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.opening.option_values import named_path, port_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--logdir",
        metavar="DIR",
        type=named_path,
        default=Path("dlprof-demo"),
        help="log directory to make (%(default)s)",
    )
    parser.add_argument(
        "--port", metavar="N", type=port_number, help="port of TensorBoard (default: 6006 or the next free one)"
    )
    parser.add_argument("--no-serve", action="store_true", help="only make the log directory")


def run(arguments: argparse.Namespace) -> int:
    """Import the samples and serve them until Ctrl-C."""
    from tensorboard_plugin_dlprof import samples
    from tensorboard_plugin_dlprof.database.up_to_date import is_current
    from tensorboard_plugin_dlprof.pipeline import ImportOptions
    from tensorboard_plugin_dlprof.ranks.job_step import make_jobs

    jobs = []
    for source in samples.install(arguments.logdir):
        database = place_of_database(source, None)
        jobs.append(Job(source, database, force=not is_current(database, source)))
    if import_all(jobs, ImportOptions(), scalars=True) < len(jobs):
        return exit_codes.FAILURE
    ranks = [
        Job(source, place_of_database(source, None), force=False) for source in samples.install_job(arguments.logdir)
    ]
    if import_all(ranks, ImportOptions(), scalars=False, warns=False) < len(ranks):
        return exit_codes.FAILURE
    make_jobs(arguments.logdir / samples.JOB_RUN)
    if arguments.no_serve:
        return exit_codes.SUCCESS
    return _serve(arguments.logdir, arguments.port)


def _serve(logdir: Path, port: int | None) -> int:
    """Run TensorBoard in this process until Ctrl-C."""
    from tensorboard import program

    board = program.TensorBoard()
    board.configure(argv=["tensorboard", "--logdir", str(logdir), *([] if port is None else ["--port", str(port)])])
    try:
        url = board.launch()
    except program.TensorBoardServerException as error:
        say(f"error: TensorBoard does not start: {error}")
        return exit_codes.FAILURE
    print(f"GPU SUMMARY is at {url}#{PLUGIN_NAME}{_opened()} (Ctrl-C to end)", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        say("TensorBoard has ended")
    return exit_codes.SUCCESS


def _opened() -> str:
    """What the page shows first, as the address has it: mixed precision, beside FP32 as its baseline."""
    from tensorboard_plugin_dlprof import samples
    from tensorboard_plugin_dlprof.runs.profile import profile_id

    shown, baseline = (profile_id(run, samples.RUNS[run][0]) for run in (samples.OPENED_RUN, samples.BASELINE_RUN))
    return f"&p.{PLUGIN_NAME}.profile={shown}&p.{PLUGIN_NAME}.base={baseline}"
