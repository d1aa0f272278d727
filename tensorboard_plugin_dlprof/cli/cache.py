"""Show or empty the cache of databases that TensorBoard imported on demand.

A deleted database is made again when its source is next opened.
"""

from __future__ import annotations

import argparse

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.messages import tell_json
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.opening.option_values import named_path
from tensorboard_plugin_dlprof.opening.regular_file import shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    parser.add_argument("--clear", action="store_true", help="delete the databases in the cache")
    parser.add_argument(
        "--dir",
        metavar="DIR",
        type=named_path,
        help="the cache folder, if TensorBoard was started with --dlprof_cache_dir",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the path and the size of the cache on stdout, or empty it."""
    from tensorboard_plugin_dlprof.imports.cache import Cache

    if arguments.dir is not None and not arguments.dir.is_dir():
        raise NotFound(f"{shown(arguments.dir)}: there is no such folder; name the one that TensorBoard was given.")
    cache = Cache(arguments.dir)
    if arguments.format == "json":
        usage = cache.clear() if arguments.clear else cache.usage()
        sizes = {"databases": usage.databases, "size_bytes": usage.num_bytes, "max_bytes": cache.max_bytes}
        tell_json({"folder": shown(cache.folder), **sizes, "removed": arguments.clear})
    elif arguments.clear:
        print(f"{cache.folder}: removed {cache.clear()}")
    else:
        print(f"{cache.folder}: {cache.state()}")
    return exit_codes.SUCCESS
