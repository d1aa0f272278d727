"""The option ``--fail-on``: limits on what a command measures, by which CI fails, and the exit code they lead to.

A limit is ``MEASURE>LIMIT`` or ``MEASURE<LIMIT``; ``>+`` and ``>-`` limit how much a measure grows or falls. ``LIMIT``
is a number, a percentage, a time (ns, us, ms, s) or a size (B, KB, MB, GB).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.messages import say

Operator = Literal[">+", ">-", ">", "<"]

Kind = Literal["number", "fraction", "ns", "bytes"]

Values = Mapping[str, Mapping[str, float | None]]
"""Measure -> its value in each kind of unit; None if it is unknown."""

EXIT_CODES = (
    "Exit codes: 0 answered, 1 nothing done, 2 wrong usage, 4 a limit of --fail-on is broken, 5 one cannot be decided."
)
"""For the help of commands about one subject."""

OF_PROFILE = (
    *("iteration_time", "kernel_time", "idle_time", "gpu_utilization", "tensor_core_share", "memory_peak", "kernels"),
    *("samples_per_s", "tokens_per_s", "op:", "op_type:"),
)
"""Measures of a profile: as in ``comparing.limits``, which help must not wait for."""

_WORDS: dict[Kind, str] = {"fraction": "a percentage", "ns": "a time", "bytes": "a size", "number": "a number"}

_UNITS: dict[str, tuple[Kind, float]] = {
    "": ("number", 1),
    "%": ("fraction", 0.01),
    **{unit: ("ns", size) for unit, size in (("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))},
    **{unit: ("bytes", size) for unit, size in (("B", 1), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9))},
}

_LIMIT = re.compile(
    r"(?P<measure>.+?) *(?P<operator>>\+|>-|>|<) *(?P<number>[0-9]{1,15}(?:\.[0-9]{1,9})?) *(?P<unit>%|[a-zA-Zµ]*)"
)


class Limit(NamedTuple):
    """A limit that a command may break."""

    text: str
    """As the user wrote it."""
    measure: str
    operator: Operator
    """``>+`` grows by more than the limit, ``>-`` falls by more than it, ``>`` is above it, ``<`` is below it."""
    limit: float
    """As a number, as a fraction (3 % is 0.03), in ns or in bytes."""
    kind: Kind


def limit_of(text: str, measures: Sequence[str]) -> Limit:
    """Read a limit.

    Args:
        text: As the user wrote it.
        measures: The measures that there are; one that ends with a colon stands for all with a name behind it.

    Raises:
        ArgumentTypeError: It is no limit, or there is no such measure; the message says what a limit looks like.
    """
    match = _LIMIT.fullmatch(text.strip())
    unit = match and next((unit for unit in _UNITS if unit.lower() == match["unit"].lower()), None)
    if not match or unit is None:
        raise argparse.ArgumentTypeError(
            f"{text[:80]!r} is not a limit; write for example '{measures[0]}>3%', with a number behind > or < and one "
            "of %, ns, us, ms, s, B, KB, MB, GB or nothing after it"
        )
    measure = match["measure"]
    if not any(measure.startswith(known) if known.endswith(":") else measure == known for known in measures) or (
        measure.endswith(":")
    ):
        raise argparse.ArgumentTypeError(f"there is no measure {measure[:80]!r}; there are {', '.join(measures)}")
    kind, size = _UNITS[unit]
    operator: Operator = match["operator"]  # type: ignore[assignment]
    return Limit(text.strip(), measure, operator, round(float(match["number"]) * size, 12), kind)


def add_fail_on(
    parser: argparse.ArgumentParser,
    measures: Sequence[str],
    example: str = "",
    check: Callable[[Limit], None] = lambda limit: None,
) -> None:
    """Declare ``--fail-on``, which may be given several times, and ``--undecided``.

    Args:
        parser: Of the command; it gets ``arguments.fail_on``, a list of ``Limit``, and ``arguments.undecided``.
        measures: As for ``limit_of``.
        example: A limit for the help; by default one of the first measure.
        check: Raises ``ArgumentTypeError`` for a limit that the command cannot check.
    """

    def limit(text: str) -> Limit:
        result = limit_of(text, measures)
        check(result)
        return result

    parser.add_argument(
        "--fail-on",
        metavar="LIMIT",
        type=limit,
        action="append",
        default=[],
        help="end with exit code 4 if this limit is broken, with 5 if it cannot be decided: "
        f"'{(example or f'{measures[0]}>3%').replace('%', '%%')}'; may be repeated. Measures: {', '.join(measures)}",
    )
    parser.add_argument(
        "--undecided",
        choices=("fail", "ok"),
        default="fail",
        help="whether a limit that cannot be decided ends with exit code 5 (default: fail)",
    )


def add_fail_on_values(parser: argparse.ArgumentParser, kinds: Mapping[str, Sequence[Kind]], example: str = "") -> None:
    """As ``add_fail_on``, for limits on values, not on changes; ``kinds`` are the units that each measure has."""

    def check(limit: Limit) -> None:
        own = kinds[limit.measure]
        if limit.operator not in ("<", ">") or limit.kind not in own:
            units = " or ".join(_WORDS[kind] for kind in own)
            raise argparse.ArgumentTypeError(f"{limit.text}: give > or < and {units}")

    add_fail_on(parser, tuple(kinds), example, check)


def exit_code_of_values(arguments: argparse.Namespace, values: Iterable[Values]) -> int:
    """The exit code for the limits of a command on what it measured, and a message for each that is not kept."""
    broken: list[bool | None] = []
    for measured in values:
        for limit in arguments.fail_on:
            value = measured[limit.measure][limit.kind]
            if value is None:
                broken.append(None)
            else:
                broken.append(value > limit.limit if limit.operator == ">" else value < limit.limit)
            if broken[-1] is not False:
                say(f"--fail-on {limit.text}: {'broken' if broken[-1] else 'cannot be decided'}")
    return exit_code(broken, arguments.undecided)


def exit_code(broken: Iterable[bool | None], undecided: str) -> int:
    """The exit code for some limits.

    Args:
        broken: Whether each limit is broken; None if it cannot be decided.
        undecided: Value of ``--undecided``.
    """
    result = set(broken)
    if True in result:
        return exit_codes.BROKEN
    if None in result and undecided == "fail":
        return exit_codes.UNDECIDED
    return exit_codes.SUCCESS
