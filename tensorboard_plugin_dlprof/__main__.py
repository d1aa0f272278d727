"""``python -m tensorboard_plugin_dlprof``: the same as the command ``dlprof``."""

import sys

from tensorboard_plugin_dlprof.cli.main import main as run
from tensorboard_plugin_dlprof.one_job import run_and_end


def main() -> int:
    """Runs the command line of the process; the exit code, or nothing where the process ends at once."""
    return run_and_end(run)


if __name__ == "__main__":
    sys.exit(main())
