"""Say why the GPU is idle, and what to change first.

The parts of each iteration's time (computing, communication, copies, and idle time by cause) add up to its length. By
default they are means over the typical iterations, without warm-up and what is unlike the rest. Nothing is written.
"""

from __future__ import annotations

import argparse
import sys

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.iterations import METAVAR, parsed
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, tell_json
from tensorboard_plugin_dlprof.opening.option_values import named_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, Nsight export or DLProf database"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    parser.add_argument(
        "--iterations",
        metavar=METAVAR,
        default="typical",
        help="which iterations means and findings are of, by number (default: the typical ones)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the diagnosis on stdout."""
    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.diagnosis.as_text import text_of
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source

    selected = parsed(arguments.iterations)
    with ProgressBar(arguments.profile.name) as progress:
        options = ImportOptions(kernel_rules=load_rules(""))
        result = diagnose_source(arguments.profile, selected, options, progress, by_number=True)
    if arguments.format == "json":
        tell_json(result)
    else:
        sys.stdout.write(text_of(result))
    return exit_codes.SUCCESS
