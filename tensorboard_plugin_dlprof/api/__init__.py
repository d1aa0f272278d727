"""Python API: profiles as pandas DataFrames, for notebooks and scripts.

``open`` returns a ``Profile``. It uses the same queries as the pages and the reports, so the numbers are the same.
"""

from tensorboard_plugin_dlprof.api.comparison import Comparison, compare
from tensorboard_plugin_dlprof.api.job import RankJob, open_job
from tensorboard_plugin_dlprof.api.opening import open_profile as open
from tensorboard_plugin_dlprof.api.profile import Profile
from tensorboard_plugin_dlprof.api.summary import Summary
from tensorboard_plugin_dlprof.errors import ProfileError

__all__ = ["Comparison", "Profile", "ProfileError", "RankJob", "Summary", "compare", "open", "open_job"]
