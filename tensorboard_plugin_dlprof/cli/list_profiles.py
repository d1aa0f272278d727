"""List the profiles below a log directory, as TensorBoard's tab does.

Runs, names, formats, headlines, and what is wrong; with --format json as the address ./profiles answers. Nothing is
imported or written. Times are in nanoseconds, shares from 0 to 1, and unknown values are null.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.messages import tell, tell_json
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.units import percentage

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.routes.app import Services
    from tensorboard_plugin_dlprof.routes.profiles import ListedProfiles, ProfileEntry
    from tensorboard_plugin_dlprof.runs.catalog import Snapshot

SECONDS = 120.0
"""How long the search may take: a log directory in the cloud has to be listed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("logdir", metavar="DIR", nargs="?", default=".", help="log directory (default: this folder)")
    parser.add_argument("--search", metavar="TEXT", default="", help="only runs and names that contain it")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")


def run(arguments: argparse.Namespace) -> int:
    """Print the list on stdout."""
    result = answer(services_of(arguments.logdir), arguments.search)
    if arguments.format == "json":
        tell_json(result)
        return exit_codes.SUCCESS
    for each in result["profiles"]:
        state = each["state"].replace("_", " ")
        tell(f"{each['id']}  {each['run']}/{each['name']}  {each['format']}, {state}{_headline(each)}")
    return exit_codes.SUCCESS


def _headline(each: ProfileEntry) -> str:
    if each["message"]:
        return f": {each['message']}"
    numbers = each["headline"]
    if not numbers or numbers["gpu_utilization_fraction"] is None:
        return ""
    return f", GPU in use {percentage(numbers['gpu_utilization_fraction'])}"


def services_of(logdir: str) -> Services:
    """What finds and imports the profiles below a log directory, as in TensorBoard.

    Raises:
        NotFound: There is no such folder.
    """
    from tensorboard_plugin_dlprof.opening.regular_file import shown
    from tensorboard_plugin_dlprof.routes.services import RELOAD_SECONDS, make_services, roots_of

    (root,) = roots_of(logdir, "", RELOAD_SECONDS)
    if root.store is None and not root.path.is_dir():
        raise NotFound(f"{shown(logdir)}: there is no such folder.")
    return make_services([root])


def answer(services: Services, search: str = "") -> ListedProfiles:
    """The list, as the address ``./profiles`` answers it."""
    from tensorboard_plugin_dlprof.routes.profiles import profile_list

    result = profile_list(complete(services), services.imports, services.import_mode)
    wanted = search.lower()
    result["profiles"] = [each for each in result["profiles"] if wanted in f"{each['run']}/{each['name']}".lower()]
    return result


def complete(services: Services) -> Snapshot:
    """The list after the search has ended and the databases were opened, or after ``SECONDS``."""
    end = time.monotonic() + SECONDS
    services.catalog.snapshot()
    while services.catalog.is_scanning() and time.monotonic() < end:
        time.sleep(0.02)
    return services.catalog.snapshot()
