"""Make DLProf databases from traces, exports and snapshots, and tell TensorBoard about them.

A source is a file, a folder (every profile below it), a quoted pattern such as 'logs/**/*.json.gz', or an address such
as s3://bucket/run, whose profiles are fetched. The database,
run.dlprof_dldb.sqlite of run.pt.trace.json, is put beside its source, or into the folder that -o names, together with
an event file.
An existing database of the same source is kept. One that an older version of this package made is made again, with
its aggregations and its title. Any other file is replaced only with --force.
"""

from __future__ import annotations

import argparse

from tensorboard_plugin_dlprof.cli.given_batch import add_given_batch
from tensorboard_plugin_dlprof.cli.importing import Job, exit_code, import_all, options_of, place_of_database
from tensorboard_plugin_dlprof.cli.iterations import add_aggregated
from tensorboard_plugin_dlprof.cli.messages import say
from tensorboard_plugin_dlprof.cli.sources import find_sources
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.metadata import KERNEL_RULES_VARIABLE
from tensorboard_plugin_dlprof.opening.option_values import gigabytes, named_path, named_place, rank_expression
from tensorboard_plugin_dlprof.opening.regular_file import is_remote

_MOST_WORKERS = 1_024

KERNEL_RULES_HELP = f"JSON file of your own rules for kernels (default: the one that {KERNEL_RULES_VARIABLE} names)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, quoted pattern or address")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=named_place,
        help="folder or address (s3://bucket/run) for the results; made if missing",
    )
    parser.add_argument("--force", action="store_true", help="import again, and replace what is there")
    parser.add_argument("--scalars", action="store_true", help="also write numbers per iteration for the SCALARS tab")
    parser.add_argument("--key-op", metavar="NAME", help="name or id of the op that ends each iteration")
    add_aggregated(parser)
    add_given_batch(parser)
    parser.add_argument("--profile-name", metavar="NAME", default="", help="title of the profile")
    parser.add_argument(
        "--memory-limit",
        metavar="GB",
        type=gigabytes,
        default=2.0,
        help="memory beyond which long columns go to temporary files beside the results (default: 2); not a hard limit",
    )
    add_workers(
        parser,
        "of several sources, each is imported in a process of its own; a single large trace is read by all of them "
        "(default: 1)",
    )
    parser.add_argument(
        "--job",
        action="store_true",
        help="the sources are ranks of one job: compare them too, as dlprof job does; with -o their folders are kept",
    )
    parser.add_argument(
        "--depth",
        choices=("full", "job"),
        help="what --job stores of each rank: all of its pages, or only what the job needs (default: full up to 64 "
        "ranks; above, full for rank 0 and for ranks that stand out)",
    )
    parser.add_argument(
        "--shard",
        metavar="I/N",
        type=_shard,
        help="import only the I-th of N parts of the sources (I from 1), for job arrays; then run dlprof job DIR once",
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", default="", help="import on the workers of this Dask scheduler (or scheduler file)"
    )
    add_rank_regex(parser)
    parser.add_argument("--kernel-rules", metavar="FILE", default="", help=KERNEL_RULES_HELP)
    parser.add_argument(
        "--counters",
        metavar="FILE",
        type=named_path,
        help="hardware counters for the only SOURCE: CSV of Nsight Compute (ncu --csv --page raw), "
        "or a PyTorch trace with counters in place of kernels",
    )


def add_rank_regex(parser: argparse.ArgumentParser) -> None:
    """Declare ``--rank-regex``."""
    parser.add_argument(
        "--rank-regex",
        metavar="REGEX",
        type=rank_expression,
        default="",
        help="where sources do not tell their rank: its first group is the rank in the path, such as 'worker-(\\d+)/'",
    )


def add_workers(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare ``--workers``, with what is done by them."""
    parser.add_argument(
        "--workers", metavar="N", type=_count, default=1, help=f"at most so many processes at once: {what}"
    )


def _count(text: str) -> int:
    """A number of processes, from 1 on."""
    if not text.isdecimal() or not 0 < int(text) <= _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes from 1 to {_MOST_WORKERS:,}")
    return int(text)


def _shard(text: str) -> tuple[int, int]:
    """Number and count of a part."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 0 < int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 3/8: the third of eight, counted from 1")
    return int(number), int(count)


def run(arguments: argparse.Namespace) -> int:
    """Import one source after the other, with a line for each on stdout and errors on stderr."""
    from msgspec.structs import replace

    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.importers.importer import ReadOptions

    options = replace(
        options_of(arguments, load_rules(arguments.kernel_rules)),
        counters=arguments.counters,
        samples_per_iteration=arguments.samples_per_iteration,
        tokens_per_iteration=arguments.tokens_per_iteration,
        read=ReadOptions(
            memory_bytes=int(arguments.memory_limit * (1 << 30)),
            workers=arguments.workers,
            rank_expression=arguments.rank_regex,
        ),
    )
    if isinstance(arguments.output, str) or any(is_remote(source) for source in arguments.sources):
        from tensorboard_plugin_dlprof.cli.remote import import_remote

        return import_remote(arguments, options)
    sources, errors = find_sources(arguments.sources)
    if arguments.counters is not None and len(sources) > 1:
        raise WrongUsage(
            f"--counters {arguments.counters} was measured in one run of a program; name only the profile of that run."
        )
    for error in errors:
        say(f"error: {error}")
    if arguments.job or arguments.shard or arguments.dask or (arguments.workers > 1 and len(sources) > 1):
        from tensorboard_plugin_dlprof.cli.job_import import import_job

        return import_job(arguments, sources, options, bool(errors))
    jobs = [Job(source, place_of_database(source, arguments.output), arguments.force) for source in sources]
    return exit_code(import_all(jobs, options, arguments.scalars), len(jobs), bool(errors))
