"""The messages of an event file that has no scalars, byte for byte as the protocol buffers library writes them.

The numbers of the fields are those of ``proto/dlprof_plugin.proto``, and of TensorBoard's ``event.proto``,
``summary.proto`` and ``tensor.proto``: https://github.com/tensorflow/tensorboard/tree/master/tensorboard/compat/proto
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.run_metadata.wire import data, double, integer, text

_DATA_CLASS_TENSOR = 2
_DT_STRING = 7


class Headline(msgspec.Struct, frozen=True):
    """``Headline`` of ``dlprof_plugin.proto``; ``None`` is unknown."""

    wall_time_ns: int | None = None
    iterations: int | None = None
    average_iteration_ns: float | None = None
    gpu_utilization_fraction: float | None = None
    tensor_core_time_fraction: float | None = None
    tensor_core_efficiency_fraction: float | None = None

    def to_bytes(self) -> bytes:
        """The message."""
        return b"".join(
            (
                integer(1, self.wall_time_ns),
                integer(2, self.iterations),
                double(3, self.average_iteration_ns),
                double(4, self.gpu_utilization_fraction),
                double(5, self.tensor_core_time_fraction),
                double(6, self.tensor_core_efficiency_fraction),
            )
        )


class ProfileMetadata(msgspec.Struct, frozen=True):
    """``ProfileMetadata`` of ``dlprof_plugin.proto``; ``None`` and an empty text are unknown."""

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
    headline: Headline | None = None

    def to_bytes(self) -> bytes:
        """The message."""
        return b"".join(
            (
                integer(1, self.schema_version),
                text(2, self.database_name),
                text(3, self.source_name),
                text(4, self.source_fingerprint),
                text(5, self.source_format),
                integer(6, self.rank),
                integer(7, self.world_size),
                *(data(8, name.encode("utf-8", "replace")) for name in self.gpu_names),
                text(9, self.profile_name),
                integer(10, self.captured_at_ns),
                data(11, self.headline.to_bytes()) if self.headline is not None else b"",
            )
        )


def first_event(wall_time: float) -> bytes:
    """The ``Event`` that every event file begins with."""
    writer = text(1, "tensorboard_plugin_dlprof")
    return double(1, wall_time) + text(3, "brain.Event:2") + data(10, writer)


def metadata_event(wall_time: float, tag: str, metadata: ProfileMetadata) -> bytes:
    """The ``Event`` with a profile's metadata under a tag of our plugin."""
    plugin_data = text(1, PLUGIN_NAME) + data(2, metadata.to_bytes())
    about = data(1, plugin_data) + integer(4, _DATA_CLASS_TENSOR)
    # The slow reader loses the data of all runs over a tag of this class without a value, so there is one.
    name = integer(1, _DT_STRING) + data(2, b"") + data(8, metadata.database_name.encode("utf-8", "replace"))
    value = text(1, tag) + data(8, name) + data(9, about)
    return double(1, wall_time) + data(5, data(1, value))
