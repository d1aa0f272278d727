"""``python -m tensorboard_plugin_dlprof``: the same as the command ``dlprof``."""

import sys

from tensorboard_plugin_dlprof.cli.main import main as run
from tensorboard_plugin_dlprof.opening.one_job import run_and_end


def main() -> int:
    """Run the process's command line. Returns the exit code, unless ``run_and_end`` ends the process."""
    return run_and_end(run)


if __name__ == "__main__":
    sys.exit(main())
