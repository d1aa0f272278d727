"""A cache folder of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where imports are kept, instead of the user's folder."""
    from tensorboard_plugin_dlprof.imports import cache

    folder = tmp_path_factory.mktemp("cache") / "databases"
    monkeypatch.setattr(cache, "default_folder", lambda: folder)
    return folder
