"""Print the schema of what commands print as JSON: one document for scripts, with units.

It is JSON Schema 2020-12: commands holds the answer of each command, $defs what they consist of. Keys may be added;
none is removed or changed without a new version.
"""

from __future__ import annotations

import argparse
import json
import sys

from tensorboard_plugin_dlprof.cli import exit_codes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare no options."""


def run(_arguments: argparse.Namespace) -> int:
    """Print the document on stdout."""
    from tensorboard_plugin_dlprof.cli.answers.document import document

    json.dump(document(), sys.stdout, indent=1)
    sys.stdout.write("\n")
    return exit_codes.SUCCESS
