"""Exit codes of every command."""

SUCCESS = 0
FAILURE = 1
"""Nothing was done."""
USAGE = 2
"""The command line is not valid; argparse's own."""
SOME_FAILED = 3
"""Some of several sources failed; the messages name them."""
BROKEN = 4
"""A limit of ``--fail-on`` is broken."""
UNDECIDED = 5
"""No limit is broken, but one cannot be decided: its measure is unknown, or there are too few samples."""
INTERRUPTED = 130
"""Ctrl-C, as shells report it."""
