"""Write DLProf's reports of one profile to files.

The profile is a DLProf database, or a PyTorch trace, Nsight Systems export or XPlane profile, which is first imported
into a temporary folder unless its database is beside it. Reports: summary, detail, iteration, kernel, tensor, op_type,
group_op, expert_systems, or all. CSV files are byte for byte those of DLProf 1.8: titles, headings, quoting.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import aggregation_of
from tensorboard_plugin_dlprof.cli.iterations import add_iterations
from tensorboard_plugin_dlprof.cli.messages import tell
from tensorboard_plugin_dlprof.cli.recording import SAFE_CSV_HELP, Part, report_files
from tensorboard_plugin_dlprof.cli.usage import checking_options
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.opening.option_values import named_path, words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="DATABASE|SOURCE", type=named_path, help="DLProf database, trace or Nsight export"
    )
    parser.add_argument("--reports", metavar="LIST", default="all", help="reports, separated by commas (default: all)")
    parser.add_argument(
        "--formats", metavar="LIST", default="csv", help="csv, json, xlsx, md, html, separated by commas (default: csv)"
    )
    parser.add_argument(
        "--output_path",
        "--output-path",
        metavar="DIR",
        type=named_path,
        default=Path(),
        help="folder (default: the current one)",
    )
    parser.add_argument(
        "--profile_name",
        "--profile-name",
        metavar="NAME",
        default="",
        help="beginning of the file names (default: dlprof)",
    )
    add_iterations(parser)
    parser.add_argument("--aggregation", metavar="N", type=int, help="number of the aggregation (default: the first)")
    parser.add_argument("--domain", metavar="NAME", help="NVTX domain, in databases before 1.7 (default: the first)")
    parser.add_argument("--safe-csv", action="store_true", help=SAFE_CSV_HELP)
    parser.add_argument("--force", action="store_true", help="replace files of the same names instead of numbering")


def run(arguments: argparse.Namespace) -> int:
    """Write the reports, and print the path of each file."""
    from tensorboard_plugin_dlprof.reports.catalog import selected_reports
    from tensorboard_plugin_dlprof.reports.files import DEFAULT_PREFIX, Target, checked_prefix, selected_formats

    with checking_options():  # before a source is imported, which takes a while
        reports, formats = selected_reports(words(arguments.reports)), selected_formats(words(arguments.formats))
        for option, selected in (("--reports", reports), ("--formats", formats)):
            if not selected:  # for example an unset variable of a shell
                raise BadRequest(f"{option} is empty; leave it out, or name some.")
        prefix = checked_prefix(arguments.profile_name or DEFAULT_PREFIX)
    target = Target(arguments.output_path, prefix, arguments.force, arguments.safe_csv)
    with aggregation_of(arguments.profile, arguments.iterations, arguments.aggregation) as (database, aggregation):
        part = Part(aggregation, arguments.domain)
        for path in report_files(database, reports, formats, target, part, str(arguments.profile)):
            tell(str(path))
    return exit_codes.SUCCESS
