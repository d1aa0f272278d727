"""How long work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and a fraction from 0 to 1 of the whole source; may raise to cancel."""
