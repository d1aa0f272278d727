"""Tracks hold every piece of work, and levels of detail add up to it."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.columns.packing import unpack
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.tracks import all_tracks, items_in
from tensorboard_plugin_dlprof.timeline import bins
from tensorboard_plugin_dlprof.timeline.tables import CLASSES, DEVICE, QUEUE, STREAM, WORK_CLASSES, Track
from tests.imports.traces import write_long_trace

spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60), st.integers(0, 2)), min_size=1, max_size=30)


@given(spans, st.lists(st.integers(-10, 300), min_size=2, max_size=12, unique=True))
def test_bins_hold_what_items_cover_of_them(items: list[tuple[int, int, int]], edges: list[int]) -> None:
    """Nanosecond by nanosecond, overlapping items added."""
    items.sort()
    edges.sort()
    start, duration, of_class = (np.array(column, np.int64) for column in zip(*items, strict=True))
    result = bins.binned(start, start + duration, of_class, 3, np.array(edges, np.int64))
    for number in range(3):
        for place, (low, high) in enumerate(itertools.pairwise(edges)):
            expected = sum(
                max(min(begin + length, high) - max(begin, low), 0) for begin, length, own in items if own == number
            )
            assert result[number, place] == expected


def test_levels_begin_with_sixteen_items_a_bin_and_add_up() -> None:
    """Each level holds the same time, in half as many bins."""
    start = np.arange(100_000, dtype=np.int64) * 1_000 + 12_345_678
    track = Track(STREAM, start, start + 400, work_class=(np.arange(100_000) % 3).astype(np.int8))
    items = list(bins.levels(track.start_ns, track.stop_ns, track.classes(), len(WORK_CLASSES)))
    assert 2 ** items[0][0] >= 16_000 > 2 ** (items[0][0] - 1)
    assert items[-1][2].shape[1] <= bins.COARSEST_BINS
    for level, first, busy in items:
        assert int(busy.sum()) == 100_000 * 400
        assert first << level <= 12_345_678 < (first + 1) << level


def test_an_import_stores_tracks_in_a_few_bytes(tmp_path: Path) -> None:
    """All items come back, those of a window too; with levels of detail of all devices and queues."""
    database = tmp_path / "a.sqlite"
    source = write_long_trace(tmp_path / "a.json")
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(database)) as con:
        (stream,) = (track for track in all_tracks(con) if track.kind == STREAM)
        assert stream.items == 80_000
        kernels = sqlite3.connect(database).execute("SELECT gpu_start, gpu_stop FROM read_only_kernels").fetchall()
        items = items_in(con, stream, 0, 1 << 40)
        assert sorted(zip(items.start.tolist(), items.stop.tolist(), strict=True)) == sorted(kernels)
        window = items_in(con, stream, 50_000_000, 60_000_000)
        expected = [kernel for kernel in sorted(kernels) if kernel[0] < 60_000_000 and kernel[1] > 50_000_000]
        assert list(zip(window.start.tolist(), window.stop.tolist(), strict=True)) == expected
        (stored,) = con.execute(
            "SELECT (SELECT sum(length(data)) FROM ext_track_items) + (SELECT sum(length(data)) FROM ext_track_bins)"
        ).fetchone()
        assert stored < 10 * 80_000
        for track in (each for each in all_tracks(con) if each.kind in (DEVICE, QUEUE, STREAM)):
            by_level: dict[int, int] = {}
            classes = len(CLASSES[track.kind])
            for level, data in con.execute("SELECT level, data FROM ext_track_bins WHERE track_id = ?", (track.id,)):
                by_level[level] = by_level.get(level, 0) + int(sum(column.sum() for column in unpack(data, classes)))
            assert set(by_level.values()) == {track.sum_ns}
