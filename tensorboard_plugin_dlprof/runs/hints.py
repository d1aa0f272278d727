"""Metadata of profiles in event files. It is only a hint: not every profile has it, and not every server sees it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.units import NS_PER_S

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.queries.headline import Headline

_LOG = logging.getLogger(__name__)


class Hint(msgspec.Struct, frozen=True):
    """The metadata of one profile in one event file."""

    run: str
    database_name: str
    source_name: str
    format: str
    rank: int | None
    world_size: int | None
    captured_at: float | None
    headline: Headline | None


MOST_OF_RUN = 4_096
MOST_HINTS = 20_000
"""Most metadata that is listed, of one run and in all. A job has as many as it has ranks."""

_MOST_LETTERS = 255
"""As many as the name of a file may have. Whoever can write an event file could write any text into the list."""

_MOST_GPUS = 64

HintReader = Callable[[], list[Hint]]


def hint_reader(data_provider: Any) -> HintReader:
    """A function that reads the metadata of all runs from TensorBoard's data provider.

    If the provider raises an error, perhaps because of a bad event file of another program, that is logged and there
    are no hints, so that the list of profiles still works.
    """

    def read() -> list[Hint]:
        from tensorboard.context import RequestContext

        try:
            runs = data_provider.list_tensors(RequestContext(), experiment_id="", plugin_name=PLUGIN_NAME)
        except Exception:  # noqa: BLE001 - any error of any provider; the list does without hints
            _LOG.debug("The metadata of event files cannot be listed.", exc_info=True)
            return []
        hints: list[Hint] = []
        for run, tags in runs.items():
            for series in islice(tags.values(), min(MOST_OF_RUN, MOST_HINTS - len(hints))):
                hint = parse_hint(run, series.plugin_content)
                if hint is not None:
                    hints.append(hint)
        return hints

    return read


def parse_hint(run: str, content: bytes) -> Hint | None:
    """The hint in the content of a summary's metadata; None if it cannot be read or names no database."""
    from google.protobuf.message import DecodeError

    from tensorboard_plugin_dlprof.run_metadata.dlprof_plugin_pb2 import ProfileMetadata

    try:
        message = ProfileMetadata.FromString(content)
    except DecodeError:
        return None
    if not message.database_name:
        return None
    return Hint(
        run=run,
        database_name=message.database_name[:_MOST_LETTERS],
        source_name=message.source_name[:_MOST_LETTERS],
        format=message.source_format[:_MOST_LETTERS] or "dlprof",
        rank=message.rank if message.HasField("rank") else None,
        world_size=message.world_size if message.HasField("world_size") else None,
        captured_at=message.captured_at_ns / NS_PER_S if message.HasField("captured_at_ns") else None,
        headline=_headline(message) if message.HasField("headline") else None,
    )


def _headline(message: Any) -> Headline:
    numbers = message.headline

    def known(name: str) -> Any:
        return getattr(numbers, name) if numbers.HasField(name) else None

    average_ns = known("average_iteration_ns")
    return {
        "gpu_names": [name[:_MOST_LETTERS] for name in islice(message.gpu_names, _MOST_GPUS)],
        "wall_time_ns": known("wall_time_ns"),
        "iterations": known("iterations"),
        "average_iteration_ns": None if average_ns is None else round(average_ns),
        "marked": None,
        "gpu_utilization_fraction": known("gpu_utilization_fraction"),
        "computing_fraction": None,
        "tensor_core_time_fraction": known("tensor_core_time_fraction"),
    }
