"""Serve profiles to coding agents: the Model Context Protocol over standard input and output.

Its tools list the profiles below a log directory, diagnose, summarise and compare them, and page through ops, kernels,
modules and gaps. They only read. Each answer is what a command prints as JSON, shortened, with that command and a link
to the same in TensorBoard. It needs the package mcp: pip install 'tensorboard_plugin_dlprof[mcp]'.
"""

from __future__ import annotations

import argparse

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.errors import BadRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--logdir", metavar="DIR", default=".", help="log directory (default: this folder)")
    parser.add_argument(
        "--url",
        metavar="URL",
        default="http://localhost:6006/",
        help="address of the TensorBoard of this log directory, for links (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    try:
        from tensorboard_plugin_dlprof.cli.agents.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("anyio", "mcp", "pydantic"):
            raise
        raise BadRequest(
            "dlprof mcp needs the package mcp; install it with pip install 'tensorboard_plugin_dlprof[mcp]'."
        ) from None
    make_server(arguments.logdir, arguments.url).run("stdio")
    return exit_codes.SUCCESS
