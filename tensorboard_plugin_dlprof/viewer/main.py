"""Show a profile in a browser without TensorBoard.

DATABASE is a DLProf database; SOURCE is a PyTorch trace, an Nsight Systems export or an XPlane profile of JAX or
TensorFlow, which is imported when it is opened; FOLDER holds any number of these at any depth. Ctrl-C ends the server.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tensorboard_plugin_dlprof.errors import NotFound, ProfileError, reason_of
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.one_job import exit_on_sigterm, open_closed_streams
from tensorboard_plugin_dlprof.opening.option_values import gigabytes, named_path, named_place, port_number

DEFAULT_ADDRESS = "localhost"
DEFAULT_PORT = 8000

_FAILURE, _INTERRUPTED = 1, 130


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="dlprofviewer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"dlprofviewer {VERSION}")
    parser.add_argument(
        "-b",
        "--bind",
        metavar="ADDRESS",
        default=DEFAULT_ADDRESS,
        help="address to listen on (default: %(default)s; 0.0.0.0 lets everybody on the network see the profiles)",
    )
    parser.add_argument(
        "-p",
        "--port",
        metavar="PORT",
        type=port_number,
        default=DEFAULT_PORT,
        help="port to listen on (default: %(default)s)",
    )
    parser.add_argument(
        "--cache-dir",
        "--dlprof_cache_dir",
        metavar="DIR",
        type=named_path,
        help="folder for the databases that are made from sources (default: your cache folder)",
    )
    parser.add_argument(
        "--memory-limit",
        "--dlprof_memory_limit",
        metavar="GB",
        type=gigabytes,
        help="memory that one import may use (default: half of the machine's, at most 8)",
    )
    parser.add_argument(
        "--allowed-dirs",
        "--dlprof_allowed_dirs",
        metavar="DIR[,DIR]",
        default="",
        help="folders outside of FOLDER into which symbolic links may lead",
    )
    parser.add_argument(
        "--allowed-hosts",
        "--dlprof_allowed_hosts",
        metavar="NAME[,NAME]",
        default="",
        help="names by which browsers may call this server, besides those of this machine; * allows any. Without a "
        "list, a server that listens on the network accepts any name",
    )
    parser.add_argument("profile", metavar="DATABASE|SOURCE|FOLDER", type=named_place, help="what to show")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; returns the exit code."""
    open_closed_streams()
    exit_on_sigterm()
    try:
        arguments = parser().parse_args(argv)
        return _serve(arguments)
    except ProfileError as error:
        print(f"dlprofviewer: error: {error}", file=sys.stderr, flush=True)
        return _FAILURE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        # The address cannot be printed: its reader is gone, or the disk is full. Python must not fail again on closing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        subject = error.filename or "the output cannot be written"
        print(f"dlprofviewer: error: {subject}: {reason_of(error)}.", file=sys.stderr, flush=True)
        return _FAILURE


def _serve(arguments: argparse.Namespace) -> int:
    from tensorboard_plugin_dlprof.opening.regular_file import shown
    from tensorboard_plugin_dlprof.routes.app import App
    from tensorboard_plugin_dlprof.routes.profiles import Opened
    from tensorboard_plugin_dlprof.routes.services import RELOAD_SECONDS, make_services, memory_of, roots_of
    from tensorboard_plugin_dlprof.runs.scan import Root
    from tensorboard_plugin_dlprof.viewer.server import bind, make_viewer

    profile: Path | str = arguments.profile
    path = Path(os.path.abspath(profile))  # noqa: PTH100 - a link keeps its own name
    allowed = [Path(os.path.abspath(folder)) for folder in arguments.allowed_dirs.split(",") if folder]  # noqa: PTH100
    if isinstance(profile, str):
        (root,) = roots_of(profile, "", RELOAD_SECONDS)
    elif not path.exists():
        raise NotFound(f"{shown(profile)}: there is no such file or folder; check the path.")
    elif path.is_dir():
        root = Root(path)
    else:
        root = Root(path.parent, only=path.name)
        # If the file is a link, the user wants to see its target, wherever that is.
        allowed.append(path.resolve().parent)
    bound, url, hosts = bind(arguments.bind, arguments.port, arguments.allowed_hosts)
    services = make_services(
        [root],
        allowed,
        cache_folder=arguments.cache_dir and arguments.cache_dir.absolute(),
        memory_bytes=memory_of(arguments.memory_limit or 0.0),
        opened=Opened(path) if isinstance(profile, Path) else None,
        hosts=hosts,
    )
    app = App(services)
    server = make_viewer(app, bound)
    services.catalog.any_profiles()
    print(f"{shown(profile)} is at {url} (Ctrl-C to end)", flush=True)
    try:
        server.serve_forever()
    finally:
        server.server_close()
        app.close()
    return 0
