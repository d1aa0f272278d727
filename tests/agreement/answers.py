"""Asks a database the same in every way that the product has, and names the ways that disagree."""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from tensorboard_plugin_dlprof.api.summary import summary as api_summary
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.efficiency import efficiency
from tensorboard_plugin_dlprof.queries.extension import is_ours
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.headline import headline
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_rows
from tensorboard_plugin_dlprof.queries.iteration_shares import iteration_shares
from tensorboard_plugin_dlprof.queries.ops import top_ops
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import (
    gpu_utilization,
    kernel_time,
    model_summary,
    performance,
    resource_breakdown,
    tensor_core_efficiency,
)
from tensorboard_plugin_dlprof.queries.tables import TABLES, table_of
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.catalog import REPORTS

Rows = list[dict[str, Any]]
Disagreement = tuple[str, Any, Any]

MOST_OPS, MOST_ITERATIONS = 40, 6
"""That are looked at one by one: enough of each kind of profile, in seconds."""

TENSOR_CORES = ("tensor_core_kernels", "tensor_core_time_ns")


class Said:
    """What one database says, asked once."""

    def __init__(self, connection: UntrustedConnection) -> None:
        self.connection, self.scope = connection, find_scope(connection)
        self.tables: dict[str, Rows] = {
            name: self.table(name) for name in TABLES if not table_of(connection, name).links
        }
        self.reports: dict[str, dict[str, Any]] = {word: self._report(word) for word in REPORTS if word != "iteration"}
        self.ops = {row["op_id"]: row for row in self.tables["ops"]}
        tree = group_tree(connection, self.scope, limit=20_000)["nodes"]
        self.nodes: Rows = [dict(zip(tree, node, strict=True)) for node in zip(*tree.values(), strict=True)]
        self.parts = {part["resource"]: part["time_ns"] for part in resource_breakdown(connection, self.scope)}

    def table(self, name: str, **links: Any) -> Rows:
        """All rows of a table."""
        self.connection.authorizer_calls = 0
        table = table_of(self.connection, name)
        rows: Rows = []
        while True:
            some = page(self.connection, table, self.scope, PageRequest(offset=len(rows), limit=1_000, **links)).rows
            rows += some
            if len(some) < 1_000:
                return rows

    def _report(self, word: str) -> Any:
        self.connection.authorizer_calls = 0
        text = io.StringIO()
        write_json(REPORTS[word].blocks(self.connection, self.scope), text)
        return json.loads(text.getvalue())


def disagreements(connection: UntrustedConnection) -> list[Disagreement]:
    """What of a database is said in two ways: the quantity, and what each says of it."""
    said = Said(connection)
    result = (
        *_shares(said), *_ops(said), *_groups(said), *_model(said), *_iterations(said), *_kernels(said), *_gpus(said),
        *_summaries(said),
    )  # fmt: skip
    return [(what, one, other) for what, one, other in result if not _alike(one, other)]


def _alike(one: Any, other: Any) -> bool:
    """Averages and shares are rounded in the reports, to six decimals in DLProf's tables."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-6)
    return type(one) is type(other) and bool(one == other)


def _sum(rows: Iterable[dict[str, Any]], key: str) -> int:
    return sum(row[key] or 0 for row in rows)


def _shares(said: Said) -> Iterator[Disagreement]:
    """No share is outside of 0 to 1, and no time or number is negative."""
    result = efficiency(said.connection, said.scope)
    more: list[tuple[str, Any]] = [
        ("dashboard", model_summary(said.connection, said.scope)),
        ("dashboard", gpu_utilization(said.connection, said.scope)),
        ("dashboard", tensor_core_efficiency(said.connection, said.scope)),
        ("headline", headline(said.connection)),
        ("efficiency", {key: value for key, value in result.items() if not isinstance(value, list)}),
        ("network", result["network"]),
        *(("dot", dot) for dot in result["dots"]),
        *(("rate", rate) for rate in result["iterations"]),
        *(("top", op) for op in top_ops(said.connection, said.scope)),
    ]
    for where, row in (*((name, row) for name, rows in said.tables.items() for row in rows), *more):
        for key, value in row.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                if key.endswith("fraction") or key == "fraction":
                    yield f"{where}.{key} of {next(iter(row.values()))}", 0 <= value <= 1 + 1e-9, True
                elif key.endswith("_ns") or key in ("calls", "kernels", "ops"):
                    yield f"{where}.{key} of {next(iter(row.values()))}", value >= 0, True


def _ops(said: Said) -> Iterator[Disagreement]:
    """The table, the op's own page, the ten longest, the tree, the report of details."""
    report = {row["Op ID"]: row for row in said.reports["detail"]["All Iterations"]}
    leaves = {node["op_id"]: node for node in said.nodes if node["op_id"] is not None}
    words = {"yes": True, "no": False, None: None}
    top: dict[str, Any] = {op["op_id"]: op for op in top_ops(said.connection, said.scope)}
    judged = {"eligible": True, "not eligible": False, "unknown": None}
    for row in said.tables["efficiency"]:
        yield (
            f"{row['op_id']} eligible in the efficiencies",
            said.ops[row["op_id"]]["eligible"],
            judged[row["eligibility"]],
        )
    yield "ops of table and report", set(said.ops), set(report)
    yield "ops of table and tree", set(said.ops), set(leaves)
    for place, (op, row) in enumerate(said.ops.items()):
        for key, heading in (("eligible", "TC Eligible"), ("using_tensor_cores", "Using TC")):
            yield f"{op} {key} in the report", row[key], words[report[op][heading]]
        yield f"{op} calls in the report", row["calls"], report[op]["No. Calls"]
        yield f"{op} GPU time in the report", row["gpu_time_ns"], report[op]["Total GPU Time (ns)"]
        yield f"{op} GPU time in the tree", row["gpu_time_ns"], leaves[op]["gpu_time_ns"]
        yield f"{op} eligible in the tree", row["eligible"], _bool(leaves[op]["eligible_ops"])
        yield f"{op} using in the tree", row["using_tensor_cores"], _bool(leaves[op]["using_ops"])
        if op in top:
            for key in ("eligible", "using_tensor_cores", "gpu_time_ns", "gpu_time_fraction", "calls"):
                yield f"{op} {key} among the longest", row[key], top[op][key]
        if place < MOST_OPS:
            yield from _op(said, op, row, leaves[op])


def _bool(number: int | None) -> bool | None:
    return None if number is None else bool(number)


def _op(said: Said, op: str, row: dict[str, Any], leaf: dict[str, Any]) -> Iterator[Disagreement]:
    kernels = said.table("kernels_of_op", op=op)
    yield f"{op} kernels by name", row["kernel_calls"], _sum(kernels, "calls")
    yield f"{op} kernel time in the tree", leaf["kernel_time_ns"], _sum(kernels, "gpu_time_ns")
    uses = {kernel["using_tensor_cores"] for kernel in kernels}
    if kernels:
        described = True if True in uses else None if None in uses else False
        if row["using_tensor_cores"] is not None or None in uses:
            yield f"{op} using by its kernels", row["using_tensor_cores"], described


def _groups(said: Said) -> Iterator[Disagreement]:
    """Tree, table and report; and the tree's roots are all ops."""
    report = {row["Name"]: row for row in said.reports["group_op"]["Group Op Report"]}
    paths: list[str] = []
    for node in said.nodes:
        above = paths[node["parent"]] if node["parent"] >= 0 else ""
        paths.append(node["name"] if node["name"] == "/" else f"{above}{node['name']}/")
    tree = {path: node for path, node in zip(paths, said.nodes, strict=True) if node["op_id"] is None}
    table = {row["path"]: row for row in said.tables["groups"]}
    yield "groups of tree and table", set(tree), set(table)
    yield "groups of tree and report", set(tree), set(report) - {"_CompleteModel_"}
    headings = {
        "eligible_ops": "Num TC Eligible Ops", "using_ops": "Num Ops Using TC", "calls": "Num Calls Aggregated",
        "gpu_time_ns": "Total GPU Time (ns)", "cpu_time_ns": "Total CPU Time (ns)",
    }  # fmt: skip
    for path, node in tree.items():
        for key, heading in headings.items():
            yield f"{path} {key} in the table", node[key], table[path][key]
            yield f"{path} {key} in the report", node[key], report[path][heading]
    whole = report["_CompleteModel_"]
    for key in ("gpu_time_ns", "cpu_time_ns", "calls"):
        yield f"{key} of all ops in the report", _sum(said.ops.values(), key), whole[headings[key]]
        roots = (node for node in said.nodes if node["parent"] < 0)
        yield f"{key} of the tree's roots", _sum(said.ops.values(), key), _sum(roots, key)
        if key != "calls":
            yield f"{key} of all op types", _sum(said.ops.values(), key), _sum(said.tables["op_types"], key)
    yield "ops of all op types", len(said.ops), _sum(said.tables["op_types"], "ops")


def _least(values: Iterable[bool | None]) -> int | None:
    """How many are; unknown where none is known to be, and some may."""
    items = list(values)
    return None if not any(items) and None in items else sum(map(bool, items))


def _model(said: Said) -> Iterator[Disagreement]:
    """The numbers of ops beside those of the tables."""
    model = model_summary(said.connection, said.scope)
    whole = next(row for row in said.reports["group_op"]["Group Op Report"] if row["Name"] == "_CompleteModel_")
    ops = said.ops.values()
    eligible, using = _least(row["eligible"] for row in ops), _least(row["using_tensor_cores"] for row in ops)
    yield "ops of the model", model["ops"], len(ops)
    yield "GPU time of the model", model["gpu_time_ns"], _sum(ops, "gpu_time_ns")
    yield "eligible ops of the report", whole["Num TC Eligible Ops"], eligible
    yield "ops using Tensor Cores of the report", whole["Num Ops Using TC"], using
    described = [row["using_tensor_cores"] for row in ops if row["eligible"]]
    if described:
        yield "eligible ops of the model", model["eligible_ops"], len(described)
        yield "eligible ops using", model["eligible_ops_using_tensor_cores"], _least(described)
        yield "eligible ops unknown", model["eligible_ops_unknown"], described.count(None)
    else:
        untold = None if any(row["eligible"] is None for row in ops) else 0
        yield "eligible ops of the model", model["eligible_ops"], untold


def _iterations(said: Said) -> Iterator[Disagreement]:
    """Each iteration, their sums, and the parts of the wall time."""
    connection, scope = said.connection, said.scope
    rows, times = said.tables["iterations"], performance(connection, scope)
    drawn, is_binned = iteration_rows(connection, scope)
    yield "wall time of the iterations", times["wall_clock_ns"], _sum(rows, "duration_ns")
    yield "number of iterations", times["profiled_iterations"], len(rows)
    yield "wall time of the parts", times["wall_clock_ns"], sum(part or 0 for part in said.parts.values())
    columns = {
        "tensor_core": "tensor_core_time_ns", "unknown_kernel": "unknown_kernel_ns", "other_kernel": "other_kernel_ns",
        "memory": "memory_ns", "data_loader": "data_loader_ns", "io": "io_ns", "cpu": "cpu_ns", "other": "other_ns",
    }  # fmt: skip
    for part, key in columns.items():
        if rows and key in rows[0]:
            yield f"{part} of all iterations", said.parts[part] or 0, _sum(rows, key)
            if said.parts[part] is None:
                yield f"{part} of iterations where it is unknown", {row[key] for row in rows}, {None}
    shares = {share.iteration: share for share in iteration_shares(connection, scope)}
    for row in rows:
        share = shares[row["iteration"]]
        yield "share of kernels of an iteration", row["gpu_time_fraction"], share.kernel_fraction
        yield "share of Tensor Cores of an iteration", row["tensor_core_time_fraction"], share.tensor_core_fraction
    if not is_binned:
        by_number = {row["iteration"]: row["parts"] for row in drawn if row["profiled"]}
        for row in rows:
            parts = by_number[row["iteration"]] or {}
            for part, key in columns.items():
                if key in row:
                    yield f"{part} of a drawn iteration", parts[part], row[key]
    for row in rows[:MOST_ITERATIONS]:
        number = row["iteration"]
        ops, kernels = (
            said.table("ops_of_iteration", iteration=number),
            said.table("kernels_of_iteration", iteration=number),
        )
        yield f"kernels of iteration {number}", row["kernels"], len(kernels)
        yield f"kernels by op of iteration {number}", row["kernels"], _sum(ops, "kernels")
        yield f"kernel time of iteration {number}", row["kernel_time_ns"], _sum(kernels, "gpu_time_ns")
        yield f"kernel time by op of iteration {number}", row["kernel_time_ns"], _sum(ops, "gpu_time_ns")
        paths = said.table("op_paths_of_iteration", iteration=number)
        yield f"kernel time by path of iteration {number}", row["kernel_time_ns"], _sum(paths, "gpu_time_ns")
        yield f"kernels by path of iteration {number}", row["kernels"], _sum(paths, "calls")
        uses = [kernel["using_tensor_cores"] for kernel in kernels]
        if kernels:
            yield f"Tensor Core kernels of iteration {number}", row["tensor_core_kernels"] or 0, uses.count(True)
            if None in uses:
                yield f"Tensor Core kernels that may be of {number}", row["tensor_core_kernels"], _least(uses)


def _kernels(said: Said) -> Iterator[Disagreement]:
    """Sums over kernels along every way."""
    connection, scope = said.connection, said.scope
    times, iterations = kernel_time(connection, scope), said.tables["iterations"]
    kinds = ("tensor_core", "unknown", "other_kernel", "memory")
    total = times["total"]["time_ns"]
    yield "kernel time by kind", total, sum(times[kind]["time_ns"] or 0 for kind in kinds)
    launched = times["total"]["launches"]
    if launched is not None:
        yield "launches by kind", launched, sum(times[kind]["launches"] or 0 for kind in kinds)
    kernels = None if total is None else total - (times["memory"]["time_ns"] or 0)
    yield "kernel time of the iterations", kernels, _sum(iterations, "kernel_time_ns")
    leaves = [node for node in said.nodes if node["op_id"] is not None]
    yield "kernel time of the ops", kernels, _sum(leaves, "kernel_time_ns")
    yield "unknown kernel time of the ops", times["unknown"]["time_ns"], _sum(leaves, "unknown_time_ns")
    known = times["tensor_core"]["time_ns"] or 0
    yield "Tensor Core time of the ops", known, _sum(leaves, "tensor_core_time_ns")
    yield "Tensor Core time of the iterations", known, _sum(iterations, "tensor_core_kernel_time_ns")
    result = efficiency(connection, scope)
    if result["precisions"]:
        yield "kernel time by precision", kernels, _sum(map(dict, result["precisions"]), "kernel_ns")
        on_units = [dict(part) for part in result["precisions"] if part["matrix_unit"] == "yes"]
        yield "Tensor Core time by precision", known, _sum(on_units, "kernel_ns")
    of_report = said.reports["kernel"]["Kernel Report"]
    yield "kernel time of the report", kernels, _sum(of_report, "Total GPU Time (ns)")
    described = {row["Name"]: row for row in said.reports["summary"]["All Kernels"]}
    yield (
        "kernels using Tensor Cores of the summary",
        times["tensor_core"]["time_ns"],
        described["Kernels using TC"]["GPU Time (ns)"],
    )
    tensor = said.reports["tensor"]["Tensor Core Report"]
    efficient = tensor_core_efficiency(connection, scope)
    rows = {row["Op ID"]: row for row in tensor}
    eligible = [op for op, row in said.ops.items() if row["eligible"]]
    yield "eligible ops of the tensor report", set(eligible), set(rows)
    words = {"yes": True, "no": False, None: None}
    for op, row in rows.items():
        yield f"{op} uses in the tensor report", said.ops[op]["using_tensor_cores"], words[row["Uses TC"]]
    known_ops = [row for op, row in rows.items() if not said.ops[op]["name"].startswith("unassociated")]
    yield "kernel time of eligible ops", efficient["kernel_ns"], _sum(known_ops, "Total GPU Time (ns)")
    yield "Tensor Core time of eligible ops", efficient["tensor_core_ns"] or 0, _sum(known_ops, "TC GPU Time (ns)")


def _gpus(said: Said) -> Iterator[Disagreement]:
    """The table of GPUs, and the Dashboard's."""
    used = gpu_utilization(said.connection, said.scope)
    devices = {device["device_id"]: device for device in used["devices"]}
    rows = said.tables["gpus"]
    yield "GPUs", set(devices), {row["device_id"] for row in rows}
    for row in rows:
        device = devices[row["device_id"]]
        for key, of_table in (("busy_ns", "busy_ns"), ("fraction", "utilization_fraction"), ("in_use", "in_use")):
            yield f"{key} of GPU {row['device_id']}", device[key], row[of_table]  # type: ignore[literal-required]
    kernels = _sum(said.tables["iterations"], "kernels")
    if rows:
        yield "kernels of the GPUs", kernels, _sum(rows, "kernels")
    yield (
        "busy time of the parts",
        used["busy_ns"] or 0,
        sum(said.parts[part] or 0 for part in ("tensor_core", "unknown_kernel", "other_kernel")),
    )


def _summaries(said: Said) -> Iterator[Disagreement]:
    """Python, the list of profiles, the report."""
    connection, scope = said.connection, said.scope
    described, head, used = api_summary(connection, scope), headline(connection), gpu_utilization(connection, scope)
    report = said.reports["summary"]["Summary Report"]
    model, times = model_summary(connection, scope), performance(connection, scope)
    yield "utilisation in Python", described.gpu_utilization_fraction, used["fraction"]
    yield "utilisation in the list", head["gpu_utilization_fraction"], used["fraction"]
    stored = connection.execute("SELECT data FROM ext_diagnosis").fetchone() if is_ours(connection) else None
    if stored is not None:
        mean = json.loads(zlib.decompress(stored[0]))["mean"]
        shares = [
            sum(ns for part, ns in device["parts"].items() if part.startswith("compute")) / mean["wall_ns"]
            for device in mean["devices"].values()
        ]
        if len(shares) == 1:
            yield "computing in the list", head["computing_fraction"], shares[0]
    percent = report["GPU Utilization %"]
    yield "utilisation in the report", None if percent is None else float(percent), _percent(used["fraction"])
    efficient = tensor_core_efficiency(connection, scope)["fraction"]
    percent = report["Tensor Core Kernel Utilization %"]
    yield "Tensor Core efficiency in the report", None if percent is None else float(percent), _percent(efficient)
    yield "Tensor Core efficiency in Python", described.tensor_core_efficiency_fraction, efficient
    yield "parts in Python", described.resources_ns, said.parts
    yield "eligible ops in Python", described.eligible_ops, model["eligible_ops"]
    yield "wall time in Python", described.wall_time_ns, times["wall_clock_ns"]
    wall = times["wall_clock_ns"]
    names = {
        "tensor_core": "Tensor Core Kernel Duration %", "memory": "Memory Duration %",
        "data_loader": "Dataloader Duration %", "io": "IO Duration %", "cpu": "CPU Duration %",
        "other": "Other Duration %",
    }  # fmt: skip
    for part, name in names.items():
        if name in report:
            time_ns = said.parts[part]
            yield f"{part} in the report", report[name], None if time_ns is None or not wall else 100 * time_ns / wall
        else:
            yield name, sorted(report), []


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction
