"""Add an aggregation over other iterations to a DLProf database, ours or NVIDIA's.

The database is rewritten and replaced in one step, which does not disturb a viewer that has it open; with -o the result
goes to another file. All aggregations are kept, and the viewer's menu offers them.

All aggregations of a database share the classes and counters of its kernels. To apply rules of your own or counters,
import the source again: dlprof import SOURCE --force --kernel-rules FILE.
"""

from __future__ import annotations

import argparse

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.iterations import add_aggregated, aggregated
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, tell
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.errors import BadRequest, OutputExists
from tensorboard_plugin_dlprof.opening.option_values import named_path
from tensorboard_plugin_dlprof.opening.regular_file import resolved


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("database", metavar="DATABASE", type=named_path, help="DLProf database")
    add_aggregated(parser)
    parser.add_argument("--key-op", metavar="NAME", help="name or id of the op that ends each iteration")
    parser.add_argument(
        "--candidate",
        metavar="KIND",
        help="another way to find iterations: profiler_step, numbered_range, repeated_range, optimizer_step, "
        "data_loader or whole_capture, where the database has it; if there are several of a kind, the name "
        "of one (batch N)",
    )
    for option in ("--kernel-rules", "--counters"):  # users expect them here, since `dlprof import` has them
        parser.add_argument(option, metavar="FILE", default="", help=argparse.SUPPRESS)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=named_path, help="new database (default: replace DATABASE)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Aggregate, and print the path of the database with the id of the aggregation."""
    from tensorboard_plugin_dlprof.database.connection import is_dlprof_database
    from tensorboard_plugin_dlprof.importers import is_source
    from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database

    typical, start, stop = aggregated(arguments)
    for option, file in (("--kernel-rules", arguments.kernel_rules), ("--counters", arguments.counters)):
        if file:
            raise WrongUsage(
                f"{option} cannot be used here: all aggregations of a database share the classes and counters of its "
                f"kernels. Import its source again: dlprof import SOURCE --force {option} {file}"
            )
    if arguments.key_op and arguments.candidate:
        raise WrongUsage("--key-op and --candidate are two ways to find iterations; give one.")
    if arguments.output and arguments.output.exists():
        raise OutputExists(f"{arguments.output} exists; name another file.")
    # A symbolic link remains one: the file that it points to is replaced.
    target = arguments.output or resolved(arguments.database)
    if not is_dlprof_database(arguments.database) and is_source(arguments.database):
        raise BadRequest(f"{arguments.database} is a source; import it first: dlprof import {arguments.database}")
    with ProgressBar(arguments.database.name) as progress:
        result = aggregate_database(
            arguments.database, target, Selection(arguments.key_op, start, stop, arguments.candidate, typical), progress
        )
    if result.is_new:
        tell(f"{arguments.output or arguments.database}: aggregation {result.aggregation}")
    elif arguments.output:
        raise BadRequest(
            f"{arguments.database} already has this aggregation, number {result.aggregation}, so {arguments.output} "
            "was not written; copy the database instead."
        )
    else:
        tell(f"{arguments.database}: already has this aggregation, number {result.aggregation}; nothing was written")
    return exit_codes.SUCCESS
