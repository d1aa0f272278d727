"""What the page asks about memory, and what a damaged database answers."""

from __future__ import annotations

import io
import json
import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tests.importers.kineto.traces import MAIN, kernel, op, trace
from tests.routes.serving import Server

MB = 1 << 20
ALLOCATED = "active_allocated"


def snapshot() -> dict[str, Any]:
    """Three blocks of a training step, of which one stays, and what the allocator holds then."""
    frames = [{"name": "forward", "filename": "/home/me/net/model.py", "line": 7}]
    backward = [*frames, {"name": "torch::autograd::Engine::thread_init", "filename": "engine.cpp", "line": 1}]
    events = [
        {"action": "segment_alloc", "addr": 0, "size": 20 * MB, "time_us": 1_000_000, "frames": frames},
        {"action": "alloc", "addr": 1, "size": 8 * MB, "time_us": 1_000_010, "frames": frames},
        {"action": "alloc", "addr": 0, "size": 4 * MB, "time_us": 1_000_020, "frames": backward},
        {"action": "free_completed", "addr": 1, "size": 8 * MB, "time_us": 1_000_030, "frames": backward},
        {"action": "alloc", "addr": 4 * MB, "size": 2 * MB, "time_us": 1_000_040, "frames": []},
    ]
    sizes = [(4 * MB, "active_allocated"), (2 * MB, "active_allocated"), (14 * MB, "inactive")]
    blocks = [{"size": size, "requested_size": size, "state": state} for size, state in sizes]
    segment = {"device": 0, "address": 0, "total_size": 20 * MB, "stream": 3, "segment_type": "large", "blocks": blocks}
    return {"segments": [segment], "device_traces": [events]}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The database of the snapshot."""
    source = tmp_path / "s.pickle"
    source.write_bytes(pickle.dumps(snapshot()))
    assert main(["import", str(source), "-o", str(tmp_path / "logs")]) == 0
    (result,) = (tmp_path / "logs").glob("*.sqlite")
    return result


@pytest.fixture
def server(database: Path, tmp_path: Path) -> Iterator[Server]:
    """The routes over its folder."""
    serving = Server(database.parent, tmp_path / "cache")
    yield serving
    serving.app.close()


def asked(server: Server, database: Path, route: str) -> Any:
    """The JSON of a route."""
    answer = server.get(f"{route}profile={server.profile(database.name)['id']}")
    assert answer.status_code == 200, answer.data
    return json.load(io.BytesIO(answer.data))


def test_every_question_of_the_page(server: Server, database: Path) -> None:
    """The peak, the curve, a moment, the blocks and the segments, from what the snapshot holds; of many iterations too,
    whose answer is longer than any text that a page shows."""
    with closing(sqlite3.connect(database)) as con, con:
        con.execute("UPDATE memory_answers SET answer = json_set(answer, '$.iterations', hex(zeroblob(50000)))")
    peak = asked(server, database, "/memory?")["devices"]["0"]
    assert (peak["peak_bytes"], peak["peak_reserved_bytes"], peak["peak_of"]) == (12 * MB, 20 * MB, "requested")
    assert {row["category"]: row["bytes"] for row in peak["at_peak"]} == {"activation": 8 * MB, "gradient": 4 * MB}
    curve = asked(server, database, "/memory_curve?device=0&bins=4&")
    assert (max(curve["in_use_max_bytes"]), curve["in_use_min_bytes"][0]) == (12 * MB, 0)
    forward, backward = (
        {"phase": "forward", "from": 0, "to": 10_000},
        {"phase": "backward", "from": 20_000, "to": 30_000},
    )
    assert curve["phases"] == [forward, backward]
    assert asked(server, database, "/memory_curve?device=0&from=25000&to=35000&")["phases"] == [
        {**backward, "from": 25_000}
    ]
    moment = asked(server, database, "/memory_at?device=0&time=30000&")
    assert moment["in_use_bytes"] == 4 * MB == sum(row["bytes"] for row in moment["at_peak"])
    assert moment["by_stack"] == [{"stack": "me/net/model.py(7): forward", "bytes": 4 * MB, "blocks": 1}]
    assert moment["by_size"] == [{"size": "1 to 10 MiB", "bytes": 4 * MB, "blocks": 1}]
    (block,) = moment["blocks"]
    assert (block["size_bytes"], block["stays"], block["lasts_ns"]) == (4 * MB, True, None)
    earlier = asked(server, database, "/memory_at?device=0&time=20000&")["blocks"]
    assert [(row["size_bytes"], row["allocated_ns"], row["lasts_ns"]) for row in earlier] == [
        (8 * MB, 10_000, 20_000),
        (4 * MB, 20_000, None),
    ]
    table = asked(server, database, "/table?table=memory_blocks&device=0&")
    rows = [(row["size_bytes"], row["at_peak"], row["owner"]) for row in table["rows"]]
    place = "me/net/model.py(7): forward"
    assert rows == [(8 * MB, True, place), (4 * MB, True, place), (2 * MB, False, None)]
    assert (curve["peak_at"], curve["segments_taken"], curve["segments_returned"]) == (20_000, [0], [])
    window = asked(server, database, "/memory_curve?device=0&from=25000&to=35000&bins=2&")
    assert (window["peak_at"], window["segments_taken"]) == (25_000, [])
    whole = asked(server, database, "/memory?")["devices"]["0"]
    peak = asked(server, database, "/memory_at?device=0&")
    assert (peak["at_ns"], peak["in_use_bytes"]) == (whole["peak_ns"], whole["peak_bytes"])
    assert peak["at_peak"] == whole["at_peak"]
    curve = asked(server, database, "/memory_curve?device=0&from=31000&to=39000&")
    peak = asked(server, database, "/memory_at?device=0&from=31000&to=39000&")
    assert peak["in_use_bytes"] == max(curve["in_use_max_bytes"]) == sum(row["bytes"] for row in peak["at_peak"])
    table = asked(server, database, "/table?table=memory_blocks&device=0&from=31000&to=39000&")
    assert [row["size_bytes"] for row in table["rows"]] == [4 * MB]
    alike = asked(server, database, "/table?table=memory_block_groups&device=0&")["rows"]
    keys = ("owner", "blocks", "at_peak", "at_peak_bytes", "largest_bytes", "total_bytes", "stay")
    assert [tuple(row[key] for key in keys) for row in alike] == [
        (place, 1, 1, 8 * MB, 8 * MB, 8 * MB, 0),
        (place, 1, 1, 4 * MB, 4 * MB, 4 * MB, 1),
        (None, 1, 0, 0, 2 * MB, 2 * MB, 1),
    ]
    for row in alike:
        blocks = asked(server, database, f"/table?table=memory_blocks&device=0&row={quote(row['alike'])}&")["rows"]
        assert (len(blocks), sum(each["stays"] for each in blocks)) == (row["blocks"], row["stay"])
        assert sum(each["size_bytes"] for each in blocks) == row["total_bytes"]
        assert max(each["size_bytes"] for each in blocks) == row["largest_bytes"]
    window = asked(server, database, "/table?table=memory_block_groups&device=0&from=31000&to=39000&")["rows"]
    assert [row["total_bytes"] for row in window] == [row["size_bytes"] for row in table["rows"]]
    held = asked(server, database, "/memory_segments?device=0&")
    kinds = [
        (size, category if category < 0 else held["categories"][category])
        for size, _, category in held["segments"][0]["blocks"]
    ]
    assert kinds == [(4 * MB, "gradient"), (2 * MB, "unknown"), (14 * MB, -1)]
    assert held["blocks_left_out"] == 0
    looked = asked(server, database, "/memory_block?device=0&segment=0&block=1&")
    assert (looked["place"], [row["offset_bytes"] for row in looked["blocks"]]) == (1, [0, 4 * MB, 6 * MB])
    gradient, unknown, free = looked["blocks"]
    assert (gradient["category"], gradient["owner"], gradient["allocated_ns"]) == ("gradient", place, 20_000)
    assert (unknown["category"], free["state"], free["category"]) == ("unknown", "inactive", None)
    shown = asked(server, database, "/dashboard?")["memory"]
    assert (shown["peak_bytes"], shown["shares"][0]) == (12 * MB, ["activation", 66.7])


def test_costs_are_those_of_the_op_that_allocated_a_block(tmp_path: Path) -> None:
    """Of ops of one path each has its own shapes and GPU time a call; the table and a clicked moment say the same."""
    shapes = ([[2, 3], [3, 4]], [[5, 6], [6, 7]]) * 2
    durations_us = (3, 4, 5, 8)
    in_use = (4, 12, 13, 15)
    step = {"ph": "X", "cat": "user_annotation", **MAIN, "dur": 200}
    events: list[dict[str, Any]] = [{**step, "name": f"ProfilerStep#{number}", "ts": 200 * number} for number in (0, 1)]
    for number, (size, dims) in enumerate(zip((4 * MB, 8 * MB, 1 * MB, 2 * MB), shapes, strict=True)):
        start = 100 * number
        args = {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": 4096 * (number + 1)}
        args |= {"Total Allocated": in_use[number] * MB, "Total Reserved": 16 * MB}
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **MAIN, "ts": start + 12, "dur": 1}
        events += [
            op(ts=start + 10, dur=8, **{"Input Dims": dims, "Sequence number": number}),
            {**launch, "args": {"correlation": number + 1}},
            kernel(ts=start + 14, dur=durations_us[number], correlation=number + 1),
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "name": "[memory]",
                "s": "t",
                **MAIN,
                "ts": start + 11,
                "args": args,
            },
        ]
    source = tmp_path / "trace.json"
    source.write_bytes(trace(*events))
    assert main(["import", str(source), "-o", str(tmp_path / "logs")]) == 0
    (database,) = (tmp_path / "logs").glob("*.sqlite")
    serving = Server(database.parent, tmp_path / "cache")
    table = asked(serving, database, "/table?table=memory_blocks&device=0&")["rows"]
    moment = asked(serving, database, "/memory_at?device=0&time=400000&")["blocks"]
    serving.app.close()
    for rows in (table, moment):
        costs = [(row["size_bytes"], row["op_gpu_time_average_ns"], row["op_input_shapes"]) for row in rows]
        # The mean of both calls of an op, whichever allocated the block.
        large, small = (6_000, "[[5,6],[6,7]]"), (4_000, "[[2,3],[3,4]]")
        assert costs == [(8 * MB, *large), (4 * MB, *small), (2 * MB, *large), (1 * MB, *small)]
    assert len({row["owner"] for row in table}) == 1


DAMAGE = (
    "UPDATE memory_states SET packed = x'00010203'",
    "UPDATE memory_states SET first = 'x'",
    "UPDATE memory_blocks SET packed = 'text'",
    "UPDATE memory_blocks SET first = x'ff'",
    "UPDATE memory_segments SET blocks = '{'",
    "UPDATE memory_segments SET blocks = '[[1]]'",
    "UPDATE memory_devices SET states = 'many'",
    "UPDATE memory_answers SET answer = '[]'",
    "UPDATE memory_answers SET answer = x'ff'",
    "UPDATE memory_owners SET path = x'ff'",
    "UPDATE memory_phases SET phase = 77",
    "UPDATE memory_phases SET stop = 'x'",
    'UPDATE memory_segments SET blocks = \'[[1, "active_allocated", 99], [1, "active_allocated", 99]]\'',
    "UPDATE memory_marks SET place = 'x'",
    "DELETE FROM memory_states",
    "DELETE FROM memory_owners",
    "DELETE FROM memory_stacks",
    "UPDATE throughput_batches SET time_ns = 'x'",
    "INSERT INTO throughput_batches VALUES (0, 'x', 'y', x'00')",
    "UPDATE throughput_source SET layer = x'ff', samples_per_iteration = 'x'",
)


def test_a_damaged_database_is_refused_in_one_sentence(server: Server, database: Path) -> None:
    """By name, on every route; never with a failure of the plugin."""
    whole = database.read_bytes()
    refused = 0
    for number, damage in enumerate(DAMAGE):
        path = database.with_name(f"d{number}.dlprof_dldb.sqlite")
        path.write_bytes(whole)
        with closing(sqlite3.connect(path)) as con:
            con.execute(damage)
            con.commit()
    server.rescan()
    ids = {profile["name"]: profile["id"] for profile in server.profiles()}
    questions = ("/memory?", "/memory_curve?device=0&", "/memory_at?device=0&time=5&", "/memory_segments?device=0&")
    questions += ("/memory_block?device=0&segment=0&block=1&",)
    for number, damage in enumerate(DAMAGE):
        name = f"d{number}.dlprof_dldb.sqlite"
        for route in (*questions, "/throughput?", "/table?table=memory_blocks&device=0&", "/dashboard?"):
            answer = server.get(f"{route}profile={ids[name]}")
            if answer.status_code == 200:
                continue
            refused += 1
            error = json.load(io.BytesIO(answer.data))["error"]
            assert answer.status_code < 500, (damage, route, error)
            assert name in error["message"] or str(database.parent) in error["message"], (damage, route, error)
    assert refused > len(DAMAGE)


def test_what_was_held_before_is_a_row_so_that_the_rows_are_the_peak(tmp_path: Path) -> None:
    """Of how many blocks, and of what size, nothing tells; in a window only what was allocated is listed."""
    segments = [{"device": 0, "address": 0, "total_size": 20 * MB, "blocks": [{"size": 7 * MB, "state": ALLOCATED}]}]
    events = [{"action": "alloc", "addr": 1, "size": 2 * MB}, {"action": "alloc", "addr": 2, "size": MB}]
    source = tmp_path / "s.pickle"
    source.write_bytes(pickle.dumps({"segments": segments, "device_traces": [events]}))
    assert main(["import", str(source), "-o", str(tmp_path / "logs")]) == 0
    (database,) = (tmp_path / "logs").glob("*.sqlite")
    serving = Server(database.parent, tmp_path / "cache")
    try:
        page = asked(serving, database, "/table?table=memory_block_groups&device=0&")
        peak = asked(serving, database, "/memory?")["devices"]["0"]["peak_bytes"]
        window = asked(serving, database, "/table?table=memory_block_groups&device=0&from=0&to=1&")
    finally:
        serving.app.close()
    before, block = page["rows"]
    assert (before["category"], before["at_peak_bytes"]) == ("held before the recording", 4 * MB)
    assert [before[name] for name in ("largest_bytes", "blocks", "at_peak", "stay")] == [None] * 4
    assert before["total_bytes"] == 4 * MB
    assert (block["blocks"], block["at_peak_bytes"], block["largest_bytes"]) == (2, 3 * MB, 2 * MB), "of two sizes"
    assert (page["totals"]["at_peak_bytes"], page["totals"]["held_fraction"], peak) == (7 * MB, 1, 7 * MB)
    assert page["totals"]["total_bytes"] == before["total_bytes"] + block["total_bytes"]
    assert [row["category"] for row in window["rows"]] == [block["category"]]
