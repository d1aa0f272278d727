"""Python API: profiles as pandas DataFrames, for notebooks and scripts.

``open`` gives a ``Profile``. It asks what the pages and the reports ask: the same functions, the same numbers.
"""

from tensorboard_plugin_dlprof.api.opening import open_profile as open
from tensorboard_plugin_dlprof.api.profile import Profile
from tensorboard_plugin_dlprof.api.summary import Summary
from tensorboard_plugin_dlprof.errors import ProfileError

__all__ = ["Profile", "ProfileError", "Summary", "open"]
