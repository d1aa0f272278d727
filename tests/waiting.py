"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 120.0
"""Only what hangs takes so long: a busy machine needs a minute for what takes a second elsewhere."""


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    """What the condition gives, once it is true."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, "this was waited for and did not happen"
        time.sleep(0.02)
