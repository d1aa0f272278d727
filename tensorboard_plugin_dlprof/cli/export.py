"""Write a profile as a file for other tools.

The format dlprof is a database with the 36 tables and 23 views of DLProf 1.8, without any of our own.
"""

from __future__ import annotations

import argparse

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import database_of
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, tell
from tensorboard_plugin_dlprof.errors import OutputExists
from tensorboard_plugin_dlprof.opening.option_values import named_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, Nsight export or DLProf database"
    )
    parser.add_argument("--format", choices=["dlprof"], default="dlprof", help="what to write (default: dlprof)")
    parser.add_argument("-o", "--output", metavar="FILE", type=named_path, required=True, help="the file to write")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and print its path."""
    from tensorboard_plugin_dlprof.database.dlprof_export import write_dlprof_file

    if arguments.output.exists() and not arguments.force:
        raise OutputExists(f"{arguments.output} exists; name another file, or add --force.")
    with database_of(arguments.profile) as database, ProgressBar(arguments.profile.name) as progress:
        write_dlprof_file(database, arguments.output, lambda fraction: progress("Writing the file", fraction))
    tell(str(arguments.output))
    return exit_codes.SUCCESS
