"""Values of options that several programs take, for ``argparse``, which tells what is wrong with them."""

from __future__ import annotations

import argparse
from pathlib import Path

LARGEST_PORT = 65_535


def named_path(text: str) -> Path:
    """The path that is named. An empty one is a shell's variable that is not set, not this folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def port_number(text: str) -> int:
    """The port that is named; 0 is any free one."""
    if not text.isdecimal() or int(text) > LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {LARGEST_PORT}, not {text!r}")
    return int(text)
