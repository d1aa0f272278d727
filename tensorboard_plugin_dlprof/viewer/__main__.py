"""``python -m tensorboard_plugin_dlprof.viewer``."""

import sys

from tensorboard_plugin_dlprof.viewer.main import main

if __name__ == "__main__":
    sys.exit(main())
