"""``python -m tensorboard_plugin_dlprof``: the same as the command ``dlprof``."""

import gc
import sys

from tensorboard_plugin_dlprof.cli.main import main as run

_UNTIL_COLLECTED = 200_000
"""More objects than the modules of any command make: looking for those that nobody can reach finds none of them."""


def main() -> int:
    """Runs the command line of the process; the exit code.

    Python would look through all objects a dozen times while modules load and once more at the end, when the process
    gives everything back anyway: an eighth of a short command.
    """
    gc.set_threshold(_UNTIL_COLLECTED)
    try:
        return run()
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
