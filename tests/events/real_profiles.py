"""Real profiles as captures, read once per test run."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.shared_data import shared_data

GOLDEN = "dlprof-golden"


def path_of(name: str) -> Path:
    """The path of a real profile, given its folder (``torch/t4_amp``) or file; skips the test where there is none."""
    path = shared_data() / name
    return next(item for item in sorted(path.iterdir()) if item.is_file()) if path.is_dir() else path


@lru_cache(maxsize=2)
def read_capture(name: str) -> Capture:
    """The capture of a real profile. Do not change it."""
    path = path_of(name)
    return find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)


@lru_cache(maxsize=2)
def read_profile(name: str) -> Profile:
    """The profile of a real capture. Do not change it."""
    return build_profile(read_capture(name))
