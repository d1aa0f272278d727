"""The options that say what an iteration works on, where shapes do not tell."""

from __future__ import annotations

import argparse

_MOST = 10**12


def add_given_batch(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    for what in ("samples", "tokens"):
        parser.add_argument(
            f"--{what}-per-iteration",
            metavar="N",
            type=_positive,
            help=f"{what} that an iteration works on, for {what} a second (default: what the shapes of inputs tell)",
        )


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:20]) <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MOST:,}")
    return int(text)
