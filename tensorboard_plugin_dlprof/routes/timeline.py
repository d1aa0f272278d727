"""The timeline: windows of tracks, details of an item or a gap, the tables of gaps, and traces for Perfetto."""

from __future__ import annotations

import gzip
import io
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from werkzeug.wrappers import Response

from tensorboard_plugin_dlprof.database.memory import memory_database
from tensorboard_plugin_dlprof.database.rank_rows import read_collective
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.exports.trace_events import MOST_SLICES, Window, trace_chunks
from tensorboard_plugin_dlprof.opening.sqlite_file import forget_texts
from tensorboard_plugin_dlprof.queries import gaps, memory_groups, timeline, timeline_item
from tensorboard_plugin_dlprof.queries.launches import launch_statistics
from tensorboard_plugin_dlprof.queries.window_hits import hits_in
from tensorboard_plugin_dlprof.queries.window_work import largest_work
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.parameters import (
    HitsRequest,
    LaunchesRequest,
    TableRequest,
    TimelineItemRequest,
    TimelineRequest,
    WindowRequest,
)
from tensorboard_plugin_dlprof.routes.responses import download


def window(connection: sqlite3.Connection, asked: TimelineRequest) -> dict[str, Any]:
    """The body of ``./timeline``: without a window, what there is; else the tracks in the window."""
    if asked.start_ns is None and asked.stop_ns is None:
        return timeline.overview(connection)
    return timeline.window(connection, *_window(asked), asked.width, asked.tracks)


def item(connection: sqlite3.Connection, asked: TimelineItemRequest) -> dict[str, Any]:
    """The body of ``./timeline_item``: an item by its number, or what a GPU did at a moment."""
    if asked.id is not None:
        answer = timeline_item.item(connection, asked.id)
        if answer["class"] == "communication":
            answer["facts"] |= read_collective(connection, answer["start"], answer["start"] + answer["duration"])
        return answer
    if asked.search:
        return {"item": timeline_item.search(connection, asked.search, asked.at or 0)}
    if asked.track is not None:
        return {"item": timeline_item.item_at(connection, asked.track, asked.at or 0, asked.slack, asked.span)}
    if asked.at is None:
        raise BadRequest("Name an item with id, or a moment with device and at.")
    if asked.step is None:
        return timeline_item.moment(connection, asked.device, asked.at)
    is_next = asked.step == "next"
    return {"gap": timeline_item.next_gap(connection, asked.device, asked.at, is_next, asked.longest)}


def launches(connection: sqlite3.Connection, asked: LaunchesRequest) -> dict[str, Any]:
    """The body of ``./launches``: the launches of a GPU whose calls begin in a window."""
    return launch_statistics(connection, asked.device, *_window(asked))


def hits(connection: sqlite3.Connection, asked: HitsRequest) -> dict[str, Any]:
    """The body of ``./timeline_hits``: where a text is found in a window."""
    return hits_in(connection, asked.search, *_window(asked), asked.width, asked.tracks)


def work(connection: sqlite3.Connection, asked: LaunchesRequest) -> dict[str, Any]:
    """The body of ``./timeline_work``: what takes the most time of a GPU in a window."""
    return largest_work(connection, asked.device, *_window(asked))


@contextmanager
def with_computed(borrowed: Borrowed, asked: TableRequest) -> Iterator[Borrowed]:
    """What to page the rows of a table from: gaps of the window and blocks that are alike are computed into memory."""
    if asked.table in gaps.TABLES:
        start, stop = _window(asked)
        rows = gaps.computed(borrowed.connection, start, stop, asked.device)
    elif asked.table in memory_groups.TABLES:
        rows = memory_groups.computed(borrowed.connection, asked.device or 0, asked.start_ns, asked.stop_ns)
    else:
        yield borrowed
        return
    with closing(memory_database(rows)) as connection:
        yield Borrowed(connection, {})  # type: ignore[arg-type]  # pages need no more than a connection


def trace(borrowed: Borrowed, asked: WindowRequest, resources: ExitStack) -> Response:
    """The response to ``./trace``: trace events of a window, compressed as they are sent.

    Args:
        borrowed: The connection, which must stay usable until the last piece was sent.
        resources: Give back the connection; closed by the response if there is one.
    """
    start, stop = _window(asked)
    chunks = trace_chunks(borrowed.connection, Window(start, stop), MOST_SLICES)
    # Too many slices end the response: they are known only when its status is sent.
    response = download(_packed(chunks, borrowed), resources, "application/json", "trace.json")
    response.headers["Content-Encoding"] = "gzip"
    return response


def _packed(chunks: Iterator[bytes], borrowed: Borrowed) -> Iterator[bytes]:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=3, mtime=0) as packed:
        for chunk in chunks:
            packed.write(chunk)
            forget_texts(borrowed.connection)
            if buffer.tell():
                yield buffer.getvalue()
                buffer.seek(0)
                buffer.truncate()
    yield buffer.getvalue()


def _window(asked: TableRequest | TimelineRequest | WindowRequest) -> tuple[int, int]:
    start, stop = asked.start_ns, asked.stop_ns
    if start is None or stop is None or stop <= start:
        raise BadRequest("from and to must be nanoseconds since the start of the recording, and to the later one.")
    return start, stop
