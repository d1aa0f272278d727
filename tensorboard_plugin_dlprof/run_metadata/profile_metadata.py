"""What ``proto/dlprof_plugin.proto`` declares, to be written. It is read with the module that ``make proto`` makes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tensorboard_plugin_dlprof.run_metadata.wire import double, message, text, whole


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The message of this name; ``None`` is not set."""

    wall_time_ns: int | None = None
    iterations: int | None = None
    average_iteration_ns: float | None = None
    gpu_utilization_fraction: float | None = None
    tensor_core_time_fraction: float | None = None
    tensor_core_efficiency_fraction: float | None = None

    def serialized(self) -> bytes:
        """The message as bytes."""
        return b"".join(
            (
                whole(1, self.wall_time_ns),
                whole(2, self.iterations),
                double(3, self.average_iteration_ns),
                double(4, self.gpu_utilization_fraction),
                double(5, self.tensor_core_time_fraction),
                double(6, self.tensor_core_efficiency_fraction),
            )
        )


class ProfileMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The message of this name; ``None`` is not set."""

    schema_version: int
    database_name: str
    source_name: str | None = None
    source_fingerprint: str | None = None
    source_format: str | None = None
    rank: int | None = None
    world_size: int | None = None
    gpu_names: Sequence[str] = ()
    profile_name: str | None = None
    captured_at_ns: int | None = None
    headline: Headline = Headline()

    def serialized(self) -> bytes:
        """The message as bytes."""
        return b"".join(
            (
                whole(1, self.schema_version),
                text(2, self.database_name),
                text(3, self.source_name),
                text(4, self.source_fingerprint),
                text(5, self.source_format),
                whole(6, self.rank),
                whole(7, self.world_size),
                *(text(8, name) for name in self.gpu_names),
                text(9, self.profile_name),
                whole(10, self.captured_at_ns),
                message(11, self.headline.serialized()),
            )
        )
