"""Finds the command, runs it, and turns what goes wrong into one sentence and an exit code."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn, Protocol

from tensorboard_plugin_dlprof.cli import (
    aggregate,
    cache,
    check,
    compatible,
    demo,
    doctor,
    exit_codes,
    import_profiles,
    reports,
    run,
    summary,
)
from tensorboard_plugin_dlprof.cli.messages import say, say_bug
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.metadata import VERSION


class Command(Protocol):
    """A module of this package that is a command. Its docstring is the help."""

    NAME: str
    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declares the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Does the work; the exit code."""


COMMANDS: tuple[Command, ...] = (import_profiles, aggregate, summary, reports, run, check, doctor, cache, demo)

DESCRIPTION = "GPU profiles for TensorBoard: where does my GPU time go, are my Tensor Cores used, what should I change?"

EPILOG = "Exit codes: 0 all done, 1 nothing done, 2 wrong usage, 3 some of several sources failed."


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    options: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    top = argparse.ArgumentParser(prog="dlprof", description=DESCRIPTION, epilog=EPILOG, **options)
    top.add_argument("-V", "--version", action="version", version=f"dlprof {VERSION}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        text = command.__doc__ or ""
        sub = commands.add_parser(
            command.NAME, help=text.splitlines()[0].rstrip("."), description=text, epilog=EPILOG, **options
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line ``argv``, that of the process if none is given; the exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    words = sys.argv[1:] if argv is None else list(argv)
    names = [command.NAME for command in COMMANDS]
    old_form = compatible.is_meant(words, names)
    arguments = compatible.arguments(words, names) if old_form else parser().parse_args(words)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except ProfileError as error:
        say(f"error: {error}")
        return exit_codes.FAILURE
    except MemoryError:
        say("error: there is not enough memory for this profile; record fewer iterations.")
        return exit_codes.FAILURE
    except KeyboardInterrupt:
        say("interrupted")
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does. Python must not fail again when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.FAILURE
    except OSError as error:
        say(f"error: {error.filename or 'a file'}: {error.strerror}.")
        return exit_codes.FAILURE
    except Exception as error:  # noqa: BLE001  the last place before the user, who gets a sentence
        say_bug(f"dlprof {arguments.command}", error)
        return exit_codes.FAILURE
    return code


def _terminate(signal_number: int, frame: FrameType | None) -> NoReturn:
    """Lets an import that is told to end remove its unfinished files."""
    raise SystemExit(exit_codes.TERMINATED)
