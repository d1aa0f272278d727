"""Everything about one op."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from typing import TypedDict, cast

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.numbers import flag, flag_or_unknown, number, whole
from tensorboard_plugin_dlprof.queries.ops import ELIGIBLE_OR_UNKNOWN, NO_GPU_WORK, USING_OR_UNKNOWN, has_host_time
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import MAY_USE, at_least

MAX_VARIANTS = 50
MAX_ITERATIONS = 1_000
MAX_LETTERS = 65_536

_TIMES = ("cpu_time", "gpu_time", "api_time", "cpu_overhead", "gpu_idle")


class OpFacts(TypedDict):
    """The op, and its use in the aggregation."""

    op_id: str
    name: str
    op_type: str
    direction: str
    data_type: str
    data_format: str
    eligible: bool | None
    """None (unknown) for CUDA graphs recorded as a whole, and for kernels without an op."""
    using_tensor_cores: bool | None
    """None also if none of its kernels is known to use Tensor Cores but some may."""
    bad_data_type: bool
    calls: int | None
    kernel_calls: int | None
    stack_trace: str
    by_other_threads_ns: int
    """Time of its kernels that other threads launched meanwhile, such as autograd's inside a range of the user's."""


class Statistics(TypedDict):
    """Statistics of one time over the calls of the op."""

    count: int | None
    total_ns: int | None
    average_ns: int | float | None
    minimum_ns: int | None
    maximum_ns: int | None


class Variant(TypedDict):
    """Calls with the same tensors and parameters; the texts are JSON, empty where not recorded."""

    calls: int | None
    input_names: str
    input_shapes: str
    output_names: str
    output_shapes: str
    parameters: str


class Calls(TypedDict):
    """The most frequent of ``total`` variants."""

    variants: list[Variant]
    total: int


class SubOp(TypedDict):
    """A recorded op inside of this one that launched its work."""

    name: str
    calls: int | None
    shapes: str
    dtypes: str
    parameters: str


class OpIterations(TypedDict):
    """The op by iteration, or by range of iterations from ``iteration`` to ``stop_iteration``.

    One list for each column with an item for each row, which makes the JSON a third as long as one object for each row.
    If the Tensor Core use of some kernels is unknown, the columns about Tensor Cores are lower bounds, and None instead
    of 0.
    """

    iteration: list[int]
    stop_iteration: list[int]
    calls: list[int | None]
    cpu_time_ns: list[int | None]
    gpu_time_ns: list[int | None]
    kernels: list[int | None]
    tensor_core_kernels: list[int | None]
    kernel_time_ns: list[int | None]
    tensor_core_time_ns: list[int | None]


class OpDetail(TypedDict):
    """Everything about one op."""

    op: OpFacts
    times: dict[str, Statistics]
    calls: Calls
    sub_ops: list[SubOp]
    iterations: OpIterations


def op_detail(connection: sqlite3.Connection, scope: Scope, op_id: str) -> OpDetail:
    """Everything about the op with this op id.

    Raises:
        NotFound: the aggregation has no such op.
    """
    row = connection.execute(
        "SELECT op.id, op.op_id, op.op_name, type.string, direction.string, data_type.string, format.string, "
        f"{ELIGIBLE_OR_UNKNOWN}, {USING_OR_UNKNOWN}, node.is_bad_data_type, node.num_calls, node.kernel_calls, "
        "op.stack_trace, node.node_time_metrics_id FROM op_nodes AS node "
        "JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
        "LEFT JOIN dictionary AS type ON type.id = op.op_type_id "
        "LEFT JOIN dictionary AS direction ON direction.id = op.direction_id "
        "LEFT JOIN dictionary AS data_type ON data_type.id = op.data_type_id "
        "LEFT JOIN dictionary AS format ON format.id = op.data_format_id "
        "WHERE node.aggr_id = ? AND op.domain_id = ? AND op.op_id = ?",
        (scope.aggregation, scope.domain, op_id),
    ).fetchone()
    if row is None:
        raise NotFound(f"The aggregation has no op {op_id[:80]!r}; choose one from the table of ops.")
    number_of_op, *facts, stack_trace, times = row
    texts = [_text(value) for value in facts[:6]]
    return OpDetail(
        op=OpFacts(
            op_id=texts[0],
            name=texts[1],
            op_type=texts[2],
            direction=texts[3],
            data_type=texts[4],
            data_format=texts[5],
            eligible=flag_or_unknown(facts[6]),
            using_tensor_cores=flag_or_unknown(facts[7]),
            bad_data_type=flag(facts[8]),
            calls=whole(facts[9]),
            kernel_calls=whole(facts[10]),
            stack_trace=_text(stack_trace),
            by_other_threads_ns=_by_other_threads_ns(connection, scope, number_of_op),
        ),
        times=_times(connection, times),
        calls=_calls(connection, number_of_op),
        sub_ops=_sub_ops(connection, number_of_op),
        iterations=_iterations(connection, scope, number_of_op),
    )


_BY_OTHER_THREADS = (
    "SELECT id FROM launches WHERE read_only_ops_id = :op AND launched AND (process_id, thread_id) NOT IN "
    "(SELECT process_id, thread_id FROM op_call_kinds WHERE read_only_ops_id = :op)"
)
"""Launches of an op, on threads on which it is never called."""


def _by_other_threads_ns(connection: sqlite3.Connection, scope: Scope, op: int) -> int:
    asked = {"aggregation": scope.aggregation, "op": op}
    if connection.execute(f"{_BY_OTHER_THREADS} LIMIT 1", asked).fetchone() is None:
        return 0
    (total,) = connection.execute(
        "SELECT sum(one.duration_ns) FROM iteration_aggregation_list AS part "
        "CROSS JOIN iteration_kernels AS one ON one.aggr_id = part.aggr_id AND one.iteration = part.iter_value "
        f"WHERE part.aggr_id = :aggregation AND one.read_only_ops_id = :op AND one.launch_id IN ({_BY_OTHER_THREADS})",
        asked,
    ).fetchone()
    return whole(total) or 0


_METRIC_COLUMNS = ("count", "sum", "avg", "min", "max")

_UNKNOWN = Statistics(count=None, total_ns=None, average_ns=None, minimum_ns=None, maximum_ns=None)

_SELECT_TIMES = (
    f"SELECT {', '.join(f'{time}.{column}' for time in _TIMES for column in _METRIC_COLUMNS)} "
    "FROM node_time_metrics AS times "
    + " ".join(
        f"LEFT JOIN metric AS {time} ON {time}.id = times.{time.removesuffix('_time')}_time_metric_id"
        for time in _TIMES
    )
    + " WHERE times.id = ?"
)


def _times(connection: sqlite3.Connection, times: int) -> dict[str, Statistics]:
    size = len(_METRIC_COLUMNS)
    values = connection.execute(_SELECT_TIMES, (times,)).fetchone() or (None,) * (size * len(_TIMES))
    found = {}
    for place, time in enumerate(_TIMES):
        count, total, average, minimum, maximum = values[place * size : (place + 1) * size]
        found[time] = Statistics(
            count=whole(count),
            total_ns=whole(total),
            average_ns=number(average),
            minimum_ns=whole(minimum),
            maximum_ns=whole(maximum),
        )
    if not has_host_time(found["cpu_time"]["total_ns"], found["gpu_time"]["total_ns"]):
        found.update(dict.fromkeys(("cpu_time", "api_time", "cpu_overhead"), _UNKNOWN))
    return found


_CALL_COLUMNS = ("input_names_id", "input_shapes_id", "output_names_id", "output_shapes_id", "parameters_id")


def _calls(connection: sqlite3.Connection, op: int) -> Calls:
    texts = ", ".join(f"(SELECT string FROM dictionary WHERE id = variant.{column})" for column in _CALL_COLUMNS)
    grouped = (
        f"SELECT sum(calls) AS calls, min(first_call_id) AS first, {', '.join(_CALL_COLUMNS)} FROM op_call_kinds "
        f"WHERE read_only_ops_id = ? GROUP BY {', '.join(_CALL_COLUMNS)}"
    )
    rows = connection.execute(
        f"SELECT calls, {texts} FROM ({grouped}) AS variant ORDER BY calls DESC, first LIMIT {MAX_VARIANTS}", (op,)
    )
    total = connection.execute(f"SELECT count(*) FROM ({grouped})", (op,))
    return Calls(
        variants=[
            Variant(
                calls=whole(row[0]),
                input_names=_json(row[1]),
                input_shapes=_json(row[2]),
                output_names=_json(row[3]),
                output_shapes=_json(row[4]),
                parameters=_json(row[5]),
            )
            for row in rows.fetchmany(MAX_VARIANTS)
        ],
        total=int(total.fetchone()[0]),
    )


def _sub_ops(connection: sqlite3.Connection, op: int) -> list[SubOp]:
    cursor = connection.execute(
        "SELECT inputs.name, sum(kind.calls), inputs.shapes, inputs.dtypes, inputs.parameters "
        "FROM op_call_kinds AS kind JOIN sub_op_sets AS member ON member.id = kind.sub_op_set_id "
        "JOIN ext_sub_op_inputs AS inputs ON inputs.id = member.input_id WHERE kind.read_only_ops_id = ? "
        f"GROUP BY inputs.id ORDER BY sum(kind.calls) DESC, inputs.id LIMIT {MAX_VARIANTS}",
        (op,),
    )
    found = []
    for name, calls, *texts in cursor.fetchmany(MAX_VARIANTS):
        shapes, dtypes, parameters = map(_json, texts)
        found.append(SubOp(name=_text(name), calls=calls, shapes=shapes, dtypes=dtypes, parameters=parameters))
    return found


def _iterations(connection: sqlite3.Connection, scope: Scope, op: int) -> OpIterations:
    """The op by iteration; neighbouring iterations are summed if there are more than ``MAX_ITERATIONS``."""
    # One lookup for each iteration: the table is ordered by iteration, then op.
    source = (
        "FROM iteration_aggregation_list AS part CROSS JOIN iteration_ops AS node ON node.aggr_id = part.aggr_id "
        "AND node.iteration = part.iter_value AND node.read_only_ops_id = :op WHERE part.aggr_id = :aggregation"
    )
    values = {"aggregation": scope.aggregation, "op": op}
    low, high = connection.execute(f"SELECT min(node.iteration), max(node.iteration) {source}", values).fetchone()
    if whole(low) is None or whole(high) is None:
        return _in_columns([])
    values["low"], values["size"] = low, max(-(-(high - low + 1) // MAX_ITERATIONS), 1)
    cursor = connection.execute(
        f"SELECT min(node.iteration), max(node.iteration), sum(calls), sum(cpu_time_ns), sum(gpu_time_ns), "
        f"sum(kernels), sum(tc_kernels), sum(kernel_ns), sum(tc_kernel_ns) {source} "
        "GROUP BY (node.iteration - :low) / :size ORDER BY 1",
        values,
    )
    found = _in_columns([list(map(whole, column)) for column in zip(*cursor.fetchmany(MAX_ITERATIONS), strict=True)])
    unknown_use = _rows_with_unknown_use(connection, scope, op, found)
    found["tensor_core_kernels"] = list(map(at_least, found["tensor_core_kernels"], unknown_use))
    found["tensor_core_time_ns"] = list(map(at_least, found["tensor_core_time_ns"], unknown_use))
    times = zip(found["cpu_time_ns"], found["gpu_time_ns"], strict=True)
    found["cpu_time_ns"] = [cpu if has_host_time(cpu, gpu) else None for cpu, gpu in times]
    return found


_HAS_KNOWN_NON_TENSOR_CORE_KERNELS = (
    "EXISTS (SELECT 1 FROM launches AS kernel WHERE kernel.read_only_ops_id = :op AND NOT kernel.uses_tc "
    "AND kernel.long_name_id NOT IN (SELECT name_id FROM ext_kernel_names WHERE matrix_unit = 2))"
)
"""Whether the op ``:op`` has a kernel that is known not to use Tensor Cores. If not, the Tensor Core use of all kernels
that are not known to use them is unknown, in every iteration."""

_ITERATIONS_WITH_UNKNOWN_USE = (
    "SELECT part.iter_value FROM ext_iteration_unknown AS unknown "
    "CROSS JOIN iteration_aggregation_list AS part ON part.id = unknown.part_id "
    "WHERE unknown.aggr_id = :aggregation AND EXISTS (SELECT 1 FROM iteration_kernels AS one "
    "JOIN launches AS launch ON launch.id = one.launch_id "
    "JOIN ext_kernel_names AS class ON class.name_id = launch.long_name_id AND class.matrix_unit = 2 "
    "WHERE one.aggr_id = part.aggr_id AND one.iteration = part.iter_value AND one.read_only_ops_id = :op)"
)


def _rows_with_unknown_use(connection: sqlite3.Connection, scope: Scope, op: int, found: OpIterations) -> list[bool]:
    """For each row, whether the Tensor Core use of some kernel of the op is unknown in these iterations."""
    asked = {"aggregation": scope.aggregation, "op": op}
    may_use = MAY_USE.format(aggregation=":aggregation", op=":op")
    nothing, graphs, kernels = connection.execute(
        f"SELECT {NO_GPU_WORK}, :op IN (SELECT read_only_ops_id FROM ext_graph_launches), {may_use}", asked
    ).fetchone()
    if nothing or graphs or not kernels:
        return [bool(nothing or graphs)] * len(found["iteration"])
    if not connection.execute(f"SELECT {_HAS_KNOWN_NON_TENSOR_CORE_KERNELS}", asked).fetchone()[0]:
        return [bool(kernels) for kernels in found["kernels"]]
    cursor = connection.execute(_ITERATIONS_WITH_UNKNOWN_USE, asked)
    unknown_use = sorted(iteration for (iteration,) in cursor if isinstance(iteration, int))
    return [
        bisect_left(unknown_use, first) < bisect_right(unknown_use, last)
        for first, last in zip(found["iteration"], found["stop_iteration"], strict=True)
    ]


def _in_columns(columns: list[list[int]] | list[list[int | None]]) -> OpIterations:
    """The columns by name; empty lists if there are none."""
    names = OpIterations.__annotations__
    return cast("OpIterations", dict(zip(names, columns or [[] for _ in names], strict=True)))


def _text(value: object) -> str:
    text = "" if value is None or isinstance(value, bytes) else str(value)
    return text if len(text) <= MAX_LETTERS else f"{text[:MAX_LETTERS]}…"


def _json(value: object) -> str:
    """JSON without the newline that DLProf stores at its end; empty for ``null``, which stands for nothing."""
    text = _text(value).rstrip("\n")
    return "" if text == "null" else text
