"""Compare two profiles: what changed, by how much, where, and is it more than noise?

Sources and databases are compared: PyTorch traces, Nsight Systems exports, DLProf databases. Several recordings of each
program tell more, with -- between them: dlprof compare A1 A2 A3 A4 -- B1 B2 B3 B4. With more than two and no --, each
is compared with the first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import aggregation_of
from tensorboard_plugin_dlprof.cli.fail_on import OF_PROFILE, add_fail_on, exit_code
from tensorboard_plugin_dlprof.cli.iterations import add_iterations
from tensorboard_plugin_dlprof.cli.messages import say, tell
from tensorboard_plugin_dlprof.cli.usage import WrongUsage, checking_options
from tensorboard_plugin_dlprof.errors import OutputNotWritable, ProfileError, reason_of
from tensorboard_plugin_dlprof.opening.option_values import named_path
from tensorboard_plugin_dlprof.units import finite

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.comparing.comparison import Comparison
    from tensorboard_plugin_dlprof.comparing.limits import Outcome
    from tensorboard_plugin_dlprof.comparing.recording import Recording

EPILOG = (
    "Exit codes: 0 compared, 1 nothing done, 2 wrong usage, 3 some of several profiles could not be read, 4 a limit of "
    "--fail-on is broken, 5 one cannot be decided."
)


def prepared(words: Sequence[str]) -> list[str]:
    """The words of the command line, with the option that ``--`` stands for."""
    return ["--against" if word == "--" else word for word in words]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profiles", metavar="PROFILE", type=named_path, nargs="*", help="the baseline A, then the candidate B"
    )
    parser.add_argument(
        "--against",
        metavar="PROFILE",
        type=named_path,
        nargs="+",
        default=[],
        help="recordings of the candidate, where those before it are recordings of the baseline; -- is short for it",
    )
    parser.add_argument("--format", choices=("text", "json", "md", "html"), default="text", help="default: text")
    parser.add_argument("-o", "--output", metavar="FILE", type=named_path, help="write there instead of printing")
    add_iterations(parser)
    parser.add_argument("--aggregation", metavar="N", type=int, help="aggregation of B (default: the first)")
    parser.add_argument("--base-aggregation", metavar="N", type=int, help="aggregation of A (default: the first)")
    parser.add_argument(
        "--baseline", metavar="FILE", type=named_path, help="baseline from --save-baseline, in place of A"
    )
    parser.add_argument(
        "--save-baseline", metavar="FILE", type=named_path, help="store B as a baseline for later comparisons"
    )
    add_fail_on(parser, OF_PROFILE)
    parser.add_argument(
        "--floor", metavar="PERCENT", type=_percent, help="smallest change that counts (default: 2, of kernel time 1)"
    )
    parser.add_argument(
        "--top", metavar="N", type=int, default=10, help="groups that text, md and html show (default: 10)"
    )


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage")
    return value / 100


def run(arguments: argparse.Namespace) -> int:
    """Print or write the comparison."""
    from tensorboard_plugin_dlprof.comparing import baseline
    from tensorboard_plugin_dlprof.comparing.comparison import compare
    from tensorboard_plugin_dlprof.comparing.limits import check_limit

    with checking_options():  # before anything is imported
        for limit in arguments.fail_on:
            check_limit(limit.measure, limit.operator, limit.kind)
    of_a, candidates = _sides(arguments)
    before: list[Recording] = []
    if arguments.baseline:
        before = baseline.load(arguments.baseline)
    elif of_a:
        before = [_recording(path, arguments.iterations, arguments.base_aggregation) for path in of_a]
    result: list[Comparison] = []
    failed = 0
    for paths in candidates:
        try:
            after = [_recording(path, arguments.iterations, arguments.aggregation) for path in paths]
        except ProfileError as error:
            if len(candidates) == 1:
                raise
            say(f"error: {error}")
            failed += 1
            continue
        if arguments.save_baseline:
            baseline.save(arguments.save_baseline, after)
            tell(str(arguments.save_baseline))
        if before:
            result.append(compare(before, after, arguments.floor))
    if not result:
        return exit_codes.FAILURE if failed else exit_codes.SUCCESS
    outcomes = [_outcomes(one, arguments) for one in result]
    _write(_text(result, outcomes, arguments), arguments.output)
    code = exit_code((outcome.broken for each in outcomes for outcome in each), arguments.undecided)
    return exit_codes.SOME_FAILED if failed and code == exit_codes.SUCCESS else code


def _sides(arguments: argparse.Namespace) -> tuple[list[Path], list[list[Path]]]:
    """The profiles of A, and those of each candidate."""
    profiles: list[Path] = arguments.profiles
    if arguments.baseline or (arguments.save_baseline and not arguments.against and len(profiles) == 1):
        of_b = [*profiles, *arguments.against]
        if not of_b:
            raise WrongUsage("Name the profile that is compared with the baseline.")
        return [], [of_b]
    if arguments.against:
        if not profiles:
            raise WrongUsage("Name the baseline before --.")
        return profiles, [arguments.against]
    if len(profiles) < 2:
        raise WrongUsage("Name two profiles, the baseline first, or a stored one with --baseline.")
    if arguments.save_baseline and len(profiles) > 2:
        raise WrongUsage("--save-baseline stores one candidate; write -- before its recordings.")
    return profiles[:1], [[profile] for profile in profiles[1:]]


def _recording(path: Path, iterations: str, aggregation: int | None) -> Recording:
    from tensorboard_plugin_dlprof.comparing.reading import read_recording
    from tensorboard_plugin_dlprof.database.connection import opened_database

    with (
        aggregation_of(path, iterations, aggregation) as (database, result),
        opened_database(database, str(path)) as connection,
    ):
        return read_recording(connection, path.name, result)


def _outcomes(comparison: Comparison, arguments: argparse.Namespace) -> list[Outcome]:
    from tensorboard_plugin_dlprof.comparing.limits import judge

    return [
        judge(comparison, limit.text, limit.measure, limit.operator, limit.limit, limit.kind)
        for limit in arguments.fail_on
    ]


def _text(
    comparisons: Sequence[Comparison], outcomes: Sequence[Sequence[Outcome]], arguments: argparse.Namespace
) -> str:
    from tensorboard_plugin_dlprof.comparing import writing
    from tensorboard_plugin_dlprof.comparing.as_json import SCHEMA_VERSION, as_json

    pairs = list(zip(comparisons, outcomes, strict=True))
    if arguments.format == "json":
        objects = [as_json(*pair) for pair in pairs]
        whole = objects[0] if len(objects) == 1 else {"schema_version": SCHEMA_VERSION, "comparisons": objects}
        return json.dumps(finite(whole), indent=2, ensure_ascii=False) + "\n"
    write = {"text": writing.text, "md": writing.markdown, "html": writing.html}[arguments.format]
    return write(pairs, max(arguments.top, 0))


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text.encode("utf-8", "replace").decode("utf-8"))
        return
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise OutputNotWritable(f"{output} cannot be written: {reason_of(error)}; name another file.") from None
    tell(str(output))
