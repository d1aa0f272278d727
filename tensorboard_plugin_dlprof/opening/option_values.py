"""Types for options that several programs have; for ``argparse`` they raise ``ArgumentTypeError``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

LARGEST_PORT = 65_535


def named_path(text: str) -> Path:
    """A path. An empty one is refused: it mostly comes from an unset shell variable and does not mean this folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def named_place(text: str) -> Path | str:
    """A path, or the address of a place in the cloud as a text. ``file://`` names a path."""
    text = text.removeprefix("file://")
    return text if "://" in text else named_path(text)


def gigabytes(text: str) -> float:
    """The number of GB, above 0."""
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of GB above 0")
    return size


def rank_expression(text: str) -> str:
    """A regular expression with a group; empty for none."""
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None
    if text and groups == 0:
        raise argparse.ArgumentTypeError(f"{text!r} has no group; put the rank into one, as in 'node(\\d+)'")
    return text


def words(text: str) -> list[str]:
    """A list of words with commas between."""
    return [word.strip().lower() for word in text.split(",") if word.strip()]


def port_number(text: str) -> int:
    """A port number; 0 means any free port."""
    if not text.isdecimal() or int(text) > LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {LARGEST_PORT}, not {text!r}")
    return int(text)
