"""GPU profiles of deep-learning programs, inside TensorBoard."""

from tensorboard_plugin_dlprof.metadata import VERSION as __version__

__all__ = ["__version__"]
