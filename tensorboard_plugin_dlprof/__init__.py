"""GPU profiles of deep-learning programs, inside TensorBoard, on the command line and in Python.

::

    import tensorboard_plugin_dlprof as dlprof

    with dlprof.open("trace.json.gz") as p:
        print(p.summary.gpu_utilization_fraction)
        print(p.ops().head())

Importing the package loads nothing else; ``open``, ``Profile`` and the like are loaded from ``api`` on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.metadata import VERSION as __version__

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.api import (
        Comparison,
        Profile,
        ProfileError,
        RankJob,
        Summary,
        compare,
        open,
        open_job,
    )

__all__ = ["Comparison", "Profile", "ProfileError", "RankJob", "Summary", "__version__", "compare", "open", "open_job"]

_OF_THE_API = frozenset({"Comparison", "Profile", "ProfileError", "RankJob", "Summary", "compare", "open", "open_job"})


def __getattr__(name: str) -> Any:
    if name not in _OF_THE_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tensorboard_plugin_dlprof import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_THE_API})
