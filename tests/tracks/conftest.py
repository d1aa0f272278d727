"""Each of some recorded profiles, served."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.shared_data import shared_data
from tests.tracks.profiles import SHARED, Profile


@pytest.fixture(params=SHARED, scope="module")
def profile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """A recorded profile."""
    (source,) = shared_data().glob(request.param)
    result = Profile(source, tmp_path_factory.mktemp("timeline"))
    yield result
    result.server.app.close()
