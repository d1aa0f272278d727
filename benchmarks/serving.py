"""Measures how fast a server answers questions about one database over HTTP.

``python -m benchmarks.serving DATABASE`` prints one JSON object: milliseconds of each kind of question, warm and at
the first time, with one client and with eight, the mean time of the server's processor, and the memory it gained. One
client never asks the same twice; eight ask as browsers do, so that answers which do not depend on an iteration or an op
are those that the server keeps.
``--kernels N`` makes the database first, of N kernels, and throws it away; ``--one-iteration`` has them all in one
iteration.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.clients import ask_at_once
from benchmarks.measuring import percentile
from benchmarks.server import Server, serving

ROUNDS = 40
CLIENTS = 8
TRACE = Path(__file__).parent.parent / "tensorboard_plugin_dlprof/samples/data/generated-resnet50-amp.pt.trace.json.gz"

Question = Callable[[random.Random], str]
"""Makes the address of a question, a different one each time."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be asked for."""

    kernels: int
    kernels_of_iteration: int
    """On average."""
    iterations: list[int]
    ops: list[str]
    op_words: list[str]
    """Parts of the names of ops, such as layers."""
    groups: list[str]
    paths: list[str]
    """Rows of ``op_paths``."""
    sortable: list[str]


def facts(path: Path) -> Facts:
    """The iterations, ops and groups of a database, some thousand of each."""
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.queries.iteration_tables import KERNELS_OF_ITERATION
    from tensorboard_plugin_dlprof.queries.op_groups import OP_PATHS
    from tensorboard_plugin_dlprof.queries.page_request import PageRequest
    from tensorboard_plugin_dlprof.queries.pages import page
    from tensorboard_plugin_dlprof.queries.scope import find_scope

    with closing(open_database(path)) as con:
        iterations = con.execute("SELECT iter_value FROM iteration_aggregation_list WHERE aggr_id = 1").fetchmany(5_000)
        ops = con.execute(
            "SELECT op.op_id FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
            "WHERE node.kernel_calls > 0 AND node.aggr_id = 1"
        ).fetchmany(5_000)
        groups = con.execute(
            "SELECT path.string FROM group_ops AS node JOIN dictionary AS path ON path.id = node.group_op_full_name_id "
            "WHERE node.aggr_id = 1 AND node.row_type = 1"
        ).fetchmany(5_000)
        names = con.execute(
            "SELECT DISTINCT op_name FROM read_only_ops WHERE id IN "
            "(SELECT read_only_ops_id FROM op_nodes WHERE kernel_calls > 0 AND aggr_id = 1)"
        ).fetchmany(5_000)
        scope = find_scope(con)
        paths = [str(row["key"]) for row in page(con, OP_PATHS, scope, PageRequest(limit=500)).rows]
        kernels = int(con.execute("SELECT max(id) FROM read_only_kernels").fetchone()[0] or 0)
        count = con.execute("SELECT count(*) FROM iteration_aggregation_list WHERE aggr_id = 1").fetchone()[0]
    sortable = [column.key for column in KERNELS_OF_ITERATION.columns if column.sortable]
    return Facts(
        kernels=kernels,
        kernels_of_iteration=kernels // max(count, 1),
        iterations=[row[0] for row in iterations],
        ops=[row[0] for row in ops],
        op_words=sorted({part for (name,) in names for part in str(name).split("/") if part}),
        groups=[row[0] for row in groups],
        paths=paths,
        sortable=sortable,
    )


def questions(profile: str, known: Facts, *, unlike: bool = True) -> dict[str, Question]:
    """The questions by name; each picks another iteration, op, page or text every time.

    ``unlike`` makes them all different, so that no answer is kept. Browsers ask for one Dashboard again and again.
    """

    def route(name: str, **given: Callable[[random.Random], object]) -> Question:
        def question(chance: random.Random) -> str:
            values = {key: pick(chance) for key, pick in given.items()}
            # A parameter that the route does not know makes every question a new one, for which nothing is kept.
            return Server.path(name, profile=profile, **({"unlike": chance.random()} if unlike else {}), **values)

        return question

    def table(name: str, **given: object) -> Question:
        links: dict[str, Callable[[random.Random], object]] = {
            "iteration": lambda chance: chance.choice(known.iterations),
            "op": lambda chance: chance.choice(known.ops),
            "group": lambda chance: chance.choice(known.groups),
        }
        fixed = {key: _picker(value) for key, value in given.items()}
        return route("table", table=_picker(name), **{**links, **fixed})

    def any_order(chance: random.Random) -> str:
        return chance.choice(("", "-")) + chance.choice(known.sortable)

    def any_offset(chance: random.Random) -> int:
        return chance.randrange(max(known.kernels_of_iteration, 1))

    def iteration_range(chance: random.Random) -> str:
        low = chance.choice(known.iterations)
        return f"{low}..{low + max(1, len(known.iterations) // 10)}"

    asked: dict[str, Question] = {"dashboard": route("dashboard")}
    if not (known.iterations and known.ops and known.groups):
        return asked
    kernels = "kernels_of_iteration"
    return {
        **asked,
        "group tree": route("groups"),
        "iteration bars": route("iterations"),
        "ops: first page": table("ops"),
        "ops: search": table("ops", search="conv"),
        # Without links: an answer that does not depend on one is kept for all who ask for it.
        "ops by path": route("table", table=_picker("op_paths")),
        "ops by path: search": route("table", table=_picker("op_paths"), search=_picker("conv")),
        "ops by name": route("table", table=_picker("op_names")),
        "ops by type": route("table", table=_picker("op_types")),
        "ops of a path": table("ops_of_path", row=lambda chance: chance.choice(known.paths)),
        "kernels by name": route("table", table=_picker("kernels_of_group"), group=_picker("/")),
        "kernels of op": table("kernels_of_op"),
        "kernels of group": table("kernels_of_group"),
        "kernels of iteration: first page": table(kernels),
        "kernels of iteration: by duration": table(kernels, sort="-gpu_time_ns"),
        "kernels of iteration: by any column": table(kernels, sort=any_order),
        "kernels of iteration: any page": table(kernels, offset=any_offset),
        "kernels of iteration: filtered by op": table(
            kernels, **{"where.op": lambda chance: chance.choice(known.op_words)}
        ),
        "kernels of iteration: filtered by kernel": table(kernels, **{"where.name": "gemm"}),
        "kernels of iteration: search and time": table(
            kernels, search="conv", sort="-gpu_time_ns", **{"where.gpu_time_ns": lambda chance: f">{chance.random()}us"}
        ),
        "kernels of iteration and op": table("kernels_of_iteration_op"),
        "ops of iteration": table("ops_of_iteration"),
        "iterations: a range": table("iterations", **{"where.iteration": iteration_range}),
        "iterations: by duration": table("iterations", sort="-duration_ns"),
    }


def _picker(value: object) -> Callable[[random.Random], object]:
    return value if callable(value) else lambda _chance: value


def _timed(server: Server, path: str) -> float:
    start = time.perf_counter()
    server.ask(path)
    return (time.perf_counter() - start) * 1e3


def _together(server: Server, question: Question, rounds: int) -> dict[str, float]:
    """Eight clients, each with as many questions; and the server's time for one of them, which they compete for."""
    paths = [[question(chance) for _ in range(rounds)] for chance in map(random.Random, range(CLIENTS))]
    used = server.cpu_s()
    times = ask_at_once(server.host, server.port, paths)
    used = server.cpu_s() - used
    return {
        "p95_of_8_clients_ms": round(percentile(times, 0.95), 3),
        "cpu_of_8_clients_ms": round(used / len(times) * 1e3, 2),
    }


def measure(path: Path, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure all questions about one database, in milliseconds."""
    known = facts(path)
    with serving(path) as server:
        profile = server.profile()
        floor = [_timed(server, Server.path("profiles")) for _ in range(rounds + 1)][1:]
        before = server.memory_bytes()
        answers: dict[str, dict[str, float]] = {}
        as_browsers = questions(profile, known, unlike=False)
        for name, question in questions(profile, known).items():
            chance = random.Random(1)
            first = _timed(server, question(chance))
            used = server.cpu_s()
            warm = [_timed(server, question(chance)) for _ in range(rounds)]
            used = server.cpu_s() - used
            answers[name] = {
                "first_ms": round(first, 3),
                "p50_ms": round(statistics.median(warm), 3),
                "p95_ms": round(percentile(warm, 0.95), 3),
                "cpu_ms": round(used / rounds * 1e3, 2),
                **_together(server, as_browsers[name], max(1, rounds * 5 // CLIENTS)),
            }
        gained = server.memory_bytes() - before
    return {
        "kernels": known.kernels,
        "database_bytes": path.stat().st_size,
        "bytes_per_kernel": round(path.stat().st_size / max(known.kernels, 1), 1),
        "memory_gained_bytes": gained,
        "list_of_profiles_ms": round(statistics.median(floor), 3),
        "answers": answers,
    }


def make(path: Path, kernels: int, trace: Path = TRACE, *, one_iteration: bool = False) -> None:
    """A database of as many kernels from a PyTorch trace."""
    from benchmarks.tiled_profile import tile_profile
    from tensorboard_plugin_dlprof.aggregation import aggregate
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.database.reader import read_profile
    from tensorboard_plugin_dlprof.database.writer import write_database
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    import_source(trace, path, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(path)) as con:
        profile = tile_profile(read_profile(con), kernels, iterations=not one_iteration)
    write_database(path, trace, profile, lambda: aggregate(profile))


def main(argv: list[str] | None = None) -> int:
    """Print the results as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.serving", description=__doc__)
    parser.add_argument("database", type=Path, nargs="?", help="default: one of --kernels, made for this")
    parser.add_argument("--kernels", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--one-iteration", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(argv)
    if options.database is not None:
        print(json.dumps(measure(options.database, options.rounds), indent=2))
        return 0
    with tempfile.TemporaryDirectory(prefix="dlprof-serving-") as folder:
        path = Path(folder) / "made.dlprof_dldb.sqlite"
        make(path, options.kernels, one_iteration=options.one_iteration)
        print(json.dumps(measure(path, options.rounds), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
