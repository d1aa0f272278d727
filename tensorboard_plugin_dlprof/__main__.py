"""``python -m tensorboard_plugin_dlprof``: the same as the command ``dlprof``."""

import contextlib
import gc
import os
import sys
import threading

from tensorboard_plugin_dlprof.cli.main import main as run

_UNTIL_COLLECTED = 200_000
"""More objects than the modules of any command make: looking for those that nobody can reach finds none of them."""


def main() -> int:
    """Runs the command line of the process; the exit code, or nothing where the process ends at once.

    Python would look through all objects a dozen times while modules load and once more at the end, when the process
    gives everything back anyway: an eighth of a short command. It would also free millions of them one by one.
    """
    gc.set_threshold(_UNTIL_COLLECTED)
    try:
        code = run()
    finally:
        gc.freeze()
    if threading.active_count() == 1:  # else Python waits for the others
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # none, gone, or closed
                stream.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
