"""What a server answers from one database, timed inside the process that serves it.

``python -m benchmarks.serving DATABASE`` prints one JSON object: milliseconds of each kind of question, warm and at
the first time, with one client and with eight, and the memory that the server gained.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring import percentile
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.table import Request, page
from tensorboard_plugin_dlprof.queries.tables import find_table
from tensorboard_plugin_dlprof.routes.dashboard import dashboard
from tensorboard_plugin_dlprof.routes.databases import Databases

ROUNDS = 40
CLIENTS = 8

Question = Callable[[Databases, random.Random], object]


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be asked for."""

    path: Path
    kernels: int
    iterations: list[int]
    ops: list[str]


def facts(path: Path) -> Facts:
    """The iterations and ops of a database."""
    with Databases().borrow(path, path.name) as borrowed:
        connection = borrowed.connection
        scope = find_scope(connection)
        rows = connection.execute(
            "SELECT iter_value FROM iteration_aggregation_list WHERE aggr_id = ?", (scope.aggregation,)
        ).fetchmany(10_000)
        ops = connection.execute(
            "SELECT op.op_id FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
            "WHERE node.kernel_calls > 0 AND node.aggr_id = ?",
            (scope.aggregation,),
        ).fetchmany(10_000)
        kernels = int(connection.execute("SELECT max(id) FROM read_only_kernels").fetchone()[0] or 0)
    return Facts(path, kernels, [row[0] for row in rows], [row[0] for row in ops])


def questions(known: Facts) -> dict[str, Question]:
    """The questions by name; each picks another iteration, op or page every time."""

    def ask(table: str, **given: Any) -> Question:
        def question(databases: Databases, chance: random.Random) -> object:
            links = {"iteration": str(chance.choice(known.iterations)), "op": chance.choice(known.ops)}
            request = Request(**{"links": links, **given})
            with databases.borrow(known.path, known.path.name, 120.0) as borrowed:
                scope = find_scope(borrowed.connection)
                return page(borrowed.connection, find_table(table, True), scope, request, borrowed.counts)

        return question

    def first_view(databases: Databases, _chance: random.Random) -> object:
        with databases.borrow(known.path, known.path.name, 120.0) as borrowed:
            return json.dumps(dashboard(borrowed.connection, find_scope(borrowed.connection)))

    asked: dict[str, Question] = {
        "dashboard": first_view,
        "ops: first page": ask("ops"),
        "ops: search": ask("ops", search="conv"),
        "kernels of op": ask("kernels_of_op"),
        "kernels of iteration: first page": ask("kernels_of_iteration"),
        "kernels of iteration: by duration": ask("kernels_of_iteration", sort="-gpu_time_ns"),
        "kernels of iteration: search": ask("kernels_of_iteration", search="gemm"),
        "kernels of iteration and op": ask("kernels_of_iteration_op"),
        "ops of iteration": ask("ops_of_iteration"),
        "iterations": ask("iterations"),
    }
    return asked if known.iterations and known.ops else {"dashboard": first_view}


def _timed(question: Question, databases: Databases, chance: random.Random) -> float:
    start = time.perf_counter()
    question(databases, chance)
    return (time.perf_counter() - start) * 1e3


def _clients(question: Question, databases: Databases, rounds: int) -> list[float]:
    times: list[list[float]] = [[] for _ in range(CLIENTS)]

    def client(number: int) -> None:
        chance = random.Random(number)
        times[number] = [_timed(question, databases, chance) for _ in range(rounds)]

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [value for some in times for value in some]


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(path: Path, rounds: int = ROUNDS) -> dict[str, Any]:
    """All answers of one database, in milliseconds."""
    known = facts(path)
    databases = Databases()
    before = _resident_bytes()
    answers: dict[str, dict[str, float]] = {}
    for name, question in questions(known).items():
        chance = random.Random(1)
        first = _timed(question, databases, chance)
        warm = [_timed(question, databases, chance) for _ in range(rounds)]
        together = _clients(question, databases, max(1, rounds // CLIENTS))
        answers[name] = {
            "first_ms": round(first, 3),
            "p50_ms": round(statistics.median(warm), 3),
            "p95_ms": round(percentile(warm, 0.95), 3),
            "p95_of_8_clients_ms": round(percentile(together, 0.95), 3),
        }
    gained = _resident_bytes() - before
    databases.close()
    return {
        "kernels": known.kernels,
        "database_bytes": path.stat().st_size,
        "memory_gained_bytes": gained,
        "answers": answers,
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
