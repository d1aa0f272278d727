"""Runs the command that is named, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.fetching import here
from tensorboard_plugin_dlprof.cli.messages import say, say_bug, terminal_columns
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.errors import ProfileError, reason_of
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.one_job import exit_on_sigterm, open_closed_streams


class Command(Protocol):
    """A module of this package that is a command.

    Its docstring is the help. A module with exit codes of its own describes them in ``EPILOG``; one with words that
    ``argparse`` does not know changes them in ``prepared``.
    """

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work; returns the exit code."""


COMMANDS = {
    "list": "list_profiles",
    "import": "import_profiles",
    "aggregate": "aggregate",
    "diagnose": "diagnose",
    "summary": "summary",
    "compare": "compare",
    "job": "job",
    "distributed": "distributed",
    "memory": "memory",
    "table": "table",
    "reports": "reports",
    "trace": "trace",
    "export": "export",
    "run": "run",
    "check": "check",
    "classify": "classify",
    "doctor": "doctor",
    "cache": "cache",
    "demo": "demo",
    "mcp": "mcp",
    "schema": "schema",
}
"""Module of each command, loaded only when the command is used or all of them are listed."""

DESCRIPTION = "GPU profiles for TensorBoard: where does my GPU time go, are my Tensor Cores used, what should I change?"

EPILOG = "Exit codes: 0 all done, 1 nothing done, 2 wrong usage, 3 some of several sources failed."

_DLPROF = "Options of NVIDIA's DLProf 1.8 work as they did there; dlprof --mode=pytorch --help lists them."


_SCRIPTS = "For scripts: --format json; dlprof schema prints what the keys of every answer are."


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, which ``argparse`` would measure again for each option, by way of ``shutil``."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{"width": terminal_columns() - 2, **options})


def command(name: str) -> Command:
    """The module of a command."""
    return cast(Command, import_module(f"{__package__}.{COMMANDS[name]}"))


def parser(names: Iterable[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """A parser that knows these commands."""
    options: dict[str, Any] = {"formatter_class": _Help, "allow_abbrev": False}
    top = argparse.ArgumentParser(
        prog="dlprof", description=DESCRIPTION, epilog=f"{_DLPROF}\n{_SCRIPTS}\n{EPILOG}", **options
    )
    top.add_argument("-V", "--version", action="version", version=f"dlprof {VERSION}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in names:
        module = command(name)
        text = module.__doc__ or ""
        summary = text.splitlines()[0].rstrip(".")
        epilog = getattr(module, "EPILOG", EPILOG)
        sub = commands.add_parser(name, help=summary, description=text, epilog=epilog, **options)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return top


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments, with the function ``run``. Ends the process after printing help or what is wrong."""
    if words and words[0] in COMMANDS:
        prepared = getattr(command(words[0]), "prepared", list)
        return parser(words[:1]).parse_args(prepared(words))
    from tensorboard_plugin_dlprof.cli import compatible

    return compatible.arguments(words, COMMANDS) if compatible.is_meant(words) else parser().parse_args(words)


def _limit_process() -> None:
    from tensorboard_plugin_dlprof.opening.allowance import limit_whole_process  # not for --help
    from tensorboard_plugin_dlprof.opening.memory_limit import refuse_too_little

    limit_whole_process()
    refuse_too_little()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv``, by default that of the process; returns the exit code."""
    open_closed_streams()
    exit_on_sigterm()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads for what it is not asked to do
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        arguments = _arguments(words)
        with here(arguments):
            _limit_process()
            code: int = arguments.run(arguments)
        sys.stdout.flush()
    except WrongUsage as error:
        say(f"error: {error}")
        return exit_codes.USAGE
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
        say(f"error: {error.filename or 'a file or the output cannot be read or written'}: {reason_of(error)}.")
        return exit_codes.FAILURE
    except Exception as error:  # noqa: BLE001  the last place before the user, who gets a sentence
        say_bug(" ".join(["dlprof", *words[:1]]), error)
        return exit_codes.FAILURE
    return code
