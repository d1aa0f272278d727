"""Tell what kernels do by their names: do they use Tensor Cores or AMD's matrix cores, for what, in which precision?

Names are demangled, mangled or plain. Quote them, as they contain spaces and brackets, or give - and one name a line on
standard input. Nothing but the answers is printed, in the order of the names; what a name does not tell is unknown.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterator, Sequence

from tensorboard_plugin_dlprof.classify.load_rules import load_rules
from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.metadata import KERNEL_RULES_VARIABLE
from tensorboard_plugin_dlprof.opening.regular_file import printable

STANDARD_INPUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("names", metavar="NAME", nargs="+", help="name of a kernel; - reads names, one a line")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    rules_help = f"JSON file of your own rules (default: the one that {KERNEL_RULES_VARIABLE} names)"
    parser.add_argument("--kernel-rules", metavar="FILE", default="", help=rules_help)


def run(arguments: argparse.Namespace) -> int:
    """Print the answers on stdout."""
    from tensorboard_plugin_dlprof.classify.kernels import Classifier

    classifier = Classifier(load_rules(arguments.kernel_rules))
    answers = []
    for name in _names(arguments.names):
        result = classifier.classify(name)
        answer = {
            "name": name,
            "matrix_unit": result.matrix_unit.name.lower(),
            "family": result.family,
            "precision": result.precision or None,
            "library": result.library or None,
            "architecture": result.architecture or None,
            "rule": result.rule,
        }
        if arguments.format == "json":
            answers.append(answer)
        else:
            _write_text(answer, classifier.explanation(result.rule))
    if arguments.format == "json":
        json.dump(answers, sys.stdout, indent=2)
        print()
    return exit_codes.SUCCESS


def _names(arguments: Sequence[str]) -> Iterator[str]:
    """The names in order; empty lines of standard input name nothing."""
    for argument in arguments:
        if argument != STANDARD_INPUT:
            yield argument
            continue
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        for line in sys.stdin:
            if name := line.strip():
                yield name


def _write_text(answer: dict[str, str | None], note: str) -> None:
    reported = ", ".join(filter(None, (answer[key] for key in ("family", "precision", "library", "architecture"))))
    print(printable(answer["name"] or ""))
    print(f"  matrix unit: {answer['matrix_unit']}; {reported}; rule {answer['rule']}{f': {note}' if note else ''}")
