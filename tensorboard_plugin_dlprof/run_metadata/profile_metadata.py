"""What an event file says about one profile: the messages of ``proto/dlprof_plugin.proto``, to be written.

The plugin reads them with the generated module; an import writes them without (``wire``).
"""

from __future__ import annotations

import msgspec
from msgspec.structs import astuple

from tensorboard_plugin_dlprof.run_metadata.wire import Value, message


class Headline(msgspec.Struct, frozen=True):
    """The message of that name: its fields, in the order of their numbers, which begin at 1. ``None`` is unknown."""

    wall_time_ns: int | None = None
    iterations: int | None = None
    average_iteration_ns: float | None = None
    gpu_utilization_fraction: float | None = None
    tensor_core_time_fraction: float | None = None
    tensor_core_efficiency_fraction: float | None = None

    def fields(self) -> dict[int, Value]:
        """By number. What is a ``double`` there may be a whole number here."""
        wall_time_ns, iterations, *doubles = astuple(self)
        return {1: wall_time_ns, 2: iterations} | {
            field: None if value is None else float(value) for field, value in enumerate(doubles, start=3)
        }


class ProfileMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The message of that name, likewise."""

    schema_version: int
    database_name: str
    source_name: str | None = None
    source_fingerprint: str | None = None
    source_format: str | None = None
    rank: int | None = None
    world_size: int | None = None
    gpu_names: list[str]
    profile_name: str | None = None
    captured_at_ns: int | None = None
    headline: Headline

    def encoded(self) -> bytes:
        """The message as it is stored."""
        *others, headline = astuple(self)
        return message({**dict(enumerate(others, start=1)), 11: headline.fields()})
