"""The option ``--iterations`` of every command that takes iterations."""

from __future__ import annotations

import argparse
import re
from typing import Literal, NamedTuple

from tensorboard_plugin_dlprof.cli.usage import WrongUsage, check_range

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?\Z")

METAVAR = "typical|all|A-B"


class Iterations(NamedTuple):
    """Which iterations a command is about."""

    is_typical: bool = False
    """The range without warm-up and outliers at its ends."""
    start: int | None = None
    """Number of the first; None: the first of all."""
    stop: int | None = None
    """Number of the last, inclusive; None: the last of all."""


def add_aggregated(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the iterations to aggregate, of which ``--iter-start`` and ``--iter-stop`` are 1.8's."""
    which = "iterations to aggregate: typical, all, or numbers such as 2-5"
    parser.add_argument("--iterations", metavar=METAVAR, default="", help=which)
    parser.add_argument("--iter-start", metavar="N", type=int, help="first iteration to aggregate (default: the first)")
    parser.add_argument("--iter-stop", metavar="N", type=int, help="last iteration to aggregate, inclusive")


def aggregated(arguments: argparse.Namespace, *, typical: bool = False) -> Iterations:
    """The iterations to aggregate; by default all, or the typical ones.

    Raises:
        WrongUsage: they are not understood, out of order, or given in both ways.
    """
    start, stop = arguments.iter_start, arguments.iter_stop
    if not arguments.iterations:
        check_range(start, stop)
        return Iterations(typical and start is None and stop is None, start, stop)
    if start is not None or stop is not None:
        raise WrongUsage("--iterations and --iter-start, --iter-stop say the same; give one.")
    words = parsed(arguments.iterations)
    return Iterations(words == "typical") if isinstance(words, str) else Iterations(False, *words)


def add_iterations(parser: argparse.ArgumentParser) -> None:
    """Declare which iterations are reported, of a database that may have been made with others."""
    which = "which iterations numbers are of (default: those that the database was made with)"
    parser.add_argument("--iterations", metavar=METAVAR, default="", help=which)


def parsed(words: str) -> Literal["typical", "all"] | tuple[int, int]:
    """``typical``, ``all``, or the first and last number.

    Raises:
        WrongUsage: it is something else.
    """
    if words == "typical":
        return "typical"
    if words == "all":
        return "all"
    match = _RANGE.match(words)
    if match is None:
        raise WrongUsage(f"--iterations {words}: give typical, all, or two numbers such as 2-5.")
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    if last < first:
        raise WrongUsage(f"--iterations {words}: the first is after the last.")
    return first, last
