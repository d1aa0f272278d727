"""The timeline: windows of tracks, details of an item or a gap, the tables of gaps, and traces for Perfetto."""

from __future__ import annotations

import gzip
import io
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.database.memory import memory_database
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.exports.trace_events import MOST_SLICES, Window, trace_chunks
from tensorboard_plugin_dlprof.queries import gaps, timeline, timeline_item
from tensorboard_plugin_dlprof.queries.launches import launch_statistics
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.requests import Parameters

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

FARTHEST_NS = 10**17
"""Limit of times in requests: three years."""
DEFAULT_WIDTH = 1_200


def window(connection: sqlite3.Connection, parameters: Parameters) -> dict[str, Any]:
    """The body of ``./timeline``: without a window, what there is; else the tracks in the window."""
    if not parameters.text("from") and not parameters.text("to"):
        return timeline.overview(connection)
    start, stop = _window(parameters)
    width = parameters.integer("width", DEFAULT_WIDTH, 1, timeline.MAX_WIDTH) or DEFAULT_WIDTH
    return timeline.window(connection, start, stop, width, _tracks(parameters.text("tracks")))


def item(connection: sqlite3.Connection, parameters: Parameters) -> dict[str, Any]:
    """The body of ``./timeline_item``: an item by its number, or what a GPU did at a moment."""
    number = parameters.integer("id", None, 0, FARTHEST_NS)
    if number is not None:
        return timeline_item.item(connection, number)
    device = parameters.integer("device", 0, 0, 2**31) or 0
    at_ns = parameters.integer("at", None, -FARTHEST_NS, FARTHEST_NS)
    if text := parameters.text("search"):
        return {"item": timeline_item.search(connection, text, at_ns or 0)}
    track = parameters.integer("track", None, 0, FARTHEST_NS)
    if track is not None:
        return {"item": timeline_item.item_at(connection, track, at_ns or 0)}
    if at_ns is None:
        raise BadRequest("Name an item with id, or a moment with device and at.")
    step = parameters.text("step")
    if step not in ("", "next", "previous"):
        raise BadRequest("step must be next or previous.")
    if not step:
        return timeline_item.moment(connection, device, at_ns)
    longest = parameters.integer("longest", 0, 0, FARTHEST_NS) or 0
    return {"gap": timeline_item.next_gap(connection, device, at_ns, step == "next", longest)}


def launches(connection: sqlite3.Connection, parameters: Parameters) -> dict[str, Any]:
    """The body of ``./launches``: the launches of a GPU whose calls begin in a window."""
    start, stop = _window(parameters)
    return launch_statistics(connection, parameters.integer("device", 0, 0, 2**31) or 0, start, stop)


def of_gaps(parameters: Parameters) -> bool:
    """Whether a request is for one of the tables of gaps."""
    return parameters.text("table") in gaps.TABLES


@contextmanager
def with_gaps(borrowed: Borrowed, parameters: Parameters) -> Iterator[Borrowed]:
    """What to page the rows of a table from: for those of gaps, the gaps of the window in memory."""
    if not of_gaps(parameters):
        yield borrowed
        return
    start, stop = _window(parameters)
    device = parameters.integer("device", None, 0, 2**31)
    with closing(memory_database(gaps.computed(borrowed.connection, start, stop, device))) as connection:
        yield Borrowed(connection, {})  # type: ignore[arg-type]  # pages need no more than a connection


def trace(borrowed: Borrowed, parameters: Parameters, resources: ExitStack) -> Response:
    """The response to ``./trace``: trace events of a window, compressed as they are sent.

    Args:
        borrowed: The connection, which must stay usable until the last piece was sent.
        parameters: The window.
        resources: Give back the connection; closed by the response if there is one.
    """
    from werkzeug.wrappers import Response

    start, stop = _window(parameters)
    chunks = trace_chunks(borrowed.connection, Window(start, stop), MOST_SLICES)
    # Errors in the request occur before the status of the response is sent, but for too many slices, which end it.
    first = next(chunks, b"")
    kept = resources.pop_all()
    response = Response(_packed(chain([first], chunks), kept), content_type="application/json")
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Disposition"] = 'attachment; filename="trace.json"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    response.call_on_close(kept.close)
    return response


def _packed(chunks: Iterator[bytes], resources: ExitStack) -> Iterator[bytes]:
    with resources:
        buffer = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=3, mtime=0) as packed:
            for chunk in chunks:
                packed.write(chunk)
                if buffer.tell():
                    yield buffer.getvalue()
                    buffer.seek(0)
                    buffer.truncate()
        yield buffer.getvalue()


def _window(parameters: Parameters) -> tuple[int, int]:
    start = parameters.integer("from", None, -FARTHEST_NS, FARTHEST_NS)
    stop = parameters.integer("to", None, -FARTHEST_NS, FARTHEST_NS)
    if start is None or stop is None or stop <= start:
        raise BadRequest("from and to must be nanoseconds since the start of the capture, and to the later one.")
    return start, stop


def _tracks(text: str) -> list[int] | None:
    if not text:
        return None
    words = text.split(",")
    if len(words) > timeline.MAX_TRACKS or not all(word.isascii() and word.isdecimal() for word in words):
        raise BadRequest(f"tracks must be up to {timeline.MAX_TRACKS} numbers separated by commas.")
    return [int(word) for word in words]
