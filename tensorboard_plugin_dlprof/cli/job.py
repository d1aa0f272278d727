"""Make the database of a job from the databases of its ranks, without reading a trace again.

DIR holds the databases, as dlprof import --job or --shard made them. The result, <job>.dlprof_job.sqlite, is put beside
them. A job whose ranks have not changed is left alone, so the command can be run again whenever ranks arrive.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say, tell, tell_json
from tensorboard_plugin_dlprof.opening.option_values import named_path

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.ranks.job_step import Made


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="DIR", type=named_path, help="folder of the ranks' databases")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    parser.add_argument("--force", action="store_true", help="make it anew, even if no rank has changed")


def run(arguments: argparse.Namespace) -> int:
    """Make the jobs below the folder, and print the result on stdout."""
    return make_jobs_in(arguments.folder, arguments.force, as_json=arguments.format == "json")


_MOST_NAMED = 10


def say_unusable(unusable: Sequence[str]) -> None:
    """Say which databases were left out; of many, the first ones."""
    for sentence in unusable[:_MOST_NAMED]:
        say(f"warning: {sentence}")
    if len(unusable) > _MOST_NAMED:
        say(f"warning: ... and {len(unusable) - _MOST_NAMED:,} more")


def make_jobs_in(folder: Path, force: bool, *, as_json: bool = False) -> int:
    """Make the jobs below a folder, print the results, and return the exit code."""
    from tensorboard_plugin_dlprof.ranks.job_step import make_jobs

    with ProgressBar(folder.name) as progress:
        made, unusable = make_jobs(folder, force, progress)
    say_unusable(unusable)
    for warning in chain.from_iterable(each.warnings for each in made):
        say(f"warning: {warning}")
    if as_json:
        tell_json({"jobs": [_as_data(each) for each in made], "unusable": unusable})
        made = []
    for each in made:
        unchanged = "" if each.is_new else " (up to date; --force makes it anew)"
        tell(f"{each.ranks:,} of {each.world_size:,} ranks -> {each.database}{unchanged}")
        tell(each.sentence)
    return exit_codes.SOME_FAILED if unusable else exit_codes.SUCCESS


def _as_data(made: Made) -> dict[str, Any]:
    """What ``cli.answers.job`` declares as ``MadeJob``."""
    from msgspec.structs import asdict

    return {**asdict(made), "database": str(made.database)}
