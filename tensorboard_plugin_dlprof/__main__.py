"""``python -m tensorboard_plugin_dlprof``: the same as the command ``dlprof``."""

import sys

from tensorboard_plugin_dlprof.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
