"""Print the summary report of one profile.

The profile is a DLProf database, or a PyTorch trace, Nsight Systems export or XPlane profile, which is first imported
into a temporary folder unless its database is beside it. Times are in nanoseconds, utilisations and shares in percent.
"""

from __future__ import annotations

import argparse
import sys

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import aggregation_of
from tensorboard_plugin_dlprof.cli.fail_on import EXIT_CODES, OF_PROFILE, add_fail_on, exit_code
from tensorboard_plugin_dlprof.cli.given_batch import add_given_batch
from tensorboard_plugin_dlprof.cli.iterations import add_iterations
from tensorboard_plugin_dlprof.cli.messages import say
from tensorboard_plugin_dlprof.cli.usage import checking_options
from tensorboard_plugin_dlprof.opening.option_values import named_path

EPILOG = EXIT_CODES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, Nsight export or DLProf database"
    )
    add_iterations(parser)
    add_given_batch(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    add_fail_on(parser, OF_PROFILE, "gpu_utilization<80%")


def run(arguments: argparse.Namespace) -> int:
    """Print the report on stdout."""
    from tensorboard_plugin_dlprof.comparing.limits import check_value_limit, judge_value
    from tensorboard_plugin_dlprof.comparing.reading import read_recording
    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.queries.scope import find_scope
    from tensorboard_plugin_dlprof.queries.throughput import Given
    from tensorboard_plugin_dlprof.reports.as_json import write_json
    from tensorboard_plugin_dlprof.reports.as_text import write_text
    from tensorboard_plugin_dlprof.reports.summary import summary_blocks

    with checking_options():  # before anything is imported
        for limit in arguments.fail_on:
            check_value_limit(limit.measure, limit.operator, limit.kind)
    write = {"text": write_text, "json": write_json}[arguments.format]
    given = Given(arguments.samples_per_iteration, arguments.tokens_per_iteration)
    with (
        aggregation_of(arguments.profile, arguments.iterations) as (database, aggregation),
        opened_database(database, str(arguments.profile)) as connection,
    ):
        write(summary_blocks(connection, find_scope(connection, aggregation), given), sys.stdout)
        if not arguments.fail_on:
            return exit_codes.SUCCESS
        recording = read_recording(connection, arguments.profile.name, aggregation)
    outcomes = [
        judge_value(recording, limit.text, limit.measure, limit.operator, limit.limit) for limit in arguments.fail_on
    ]
    for outcome in outcomes:
        if outcome.broken is not False:
            say(f"--fail-on {outcome.rule}: {'broken' if outcome.broken else 'cannot be decided'}: {outcome.said}")
    return exit_code([outcome.broken for outcome in outcomes], arguments.undecided)
