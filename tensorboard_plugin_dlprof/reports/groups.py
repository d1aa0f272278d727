"""Where the time goes: the ten largest groups of ops, or kernels where a graph launch holds most of the time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from html import escape
from typing import Any, cast

from tensorboard_plugin_dlprof.queries import summary, system
from tensorboard_plugin_dlprof.queries.graph_launch import graph_launch_fraction
from tensorboard_plugin_dlprof.queries.page_answer import totals
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.reports import answer, charts, markup
from tensorboard_plugin_dlprof.reports.charts import Part
from tensorboard_plugin_dlprof.reports.markup import duration, section, share
from tensorboard_plugin_dlprof.reports.row_limits import COLOURS, LEAST_PIECE, LIMITS, limits_of_row
from tensorboard_plugin_dlprof.units import column_unit, in_unit


def groups(
    connection: sqlite3.Connection, scope: Scope, unit: str, where: str, diagnosis: answer.Diagnosis | None = None
) -> str:
    """The ten largest groups of ops by their time on the ``GPU`` or ``CPU``: those of one path without indices are one
    row; kernels of one name are one row where a graph launch holds most of the GPU time.

    Columns without any value are left out.
    """
    graph_share = graph_launch_fraction(connection, scope) if where == "GPU" else None
    time_ns = f"{where.lower()}_time_ns"
    table = table_of(connection, "op_paths" if graph_share is None else "kernels_of_group")
    asked = PageRequest(limit=10, sort=f"-{time_ns}", group=None if graph_share is None else "")
    found = cast("list[dict[str, Any]]", page(connection, table, scope, asked).rows)
    rows = [row for row in found if row[time_ns]]
    if not rows:
        return ""
    total = cast("int | None", totals(connection, table, scope, asked)[time_ns])
    # As the sentence and the gains above: of an iteration.
    iterations = max(summary.performance(connection, scope)["profiled_iterations"] or 1, 1)
    if graph_share is None:
        what = f"Ops of modules that are alike are one row. Shares are of the {where} time of all ops."
    else:
        what = (
            f"By kernel, because a graph launch holds {share(graph_share)} of the GPU time. Shares are of the time of "
            "all kernels."
        )
    shown = _columns(connection, rows, unit, where, total, iterations)
    gains = next((cells for head, cells in shown.items() if head.startswith("Could gain")), ())
    note = (
        what
        + (f" Times are means of {iterations:,} iterations." if iterations > 1 else "")
        + (" DLProf: Top 10 GPU Ops." if where == "GPU" else "")
        + (answer.iteration_gain(diagnosis, summary.gpu_utilization(connection, scope)["fraction"]) if gains else "")
        + (" * Counts only the ops whose work is known." if any(cell[:1] == "*" for cell in gains) else "")
    )
    names = [_name(row, graph_share is not None) for row in rows]
    bars, legend = _bars(rows, unit, where, system.has_matrix_units(connection))
    head = "Group" if graph_share is None else "Kernel"
    return _table(f"Where {where} time goes", note, legend, head, names, bars, shown)


def _columns(
    connection: sqlite3.Connection,
    rows: list[dict[str, Any]],
    unit: str,
    where: str,
    total: int | None,
    iterations: int,
) -> dict[str, list[str]]:
    """The cells by their heads."""
    time_ns = f"{where.lower()}_time_ns"
    time_unit, length = column_unit([row[time_ns] / iterations for row in rows])
    has_units = system.has_matrix_units(connection)
    # The share stands beside its bar.
    columns = {
        "Share": [share(row[time_ns] / total if total else None) for row in rows],
        # One op in each row says nothing, as on Ops.
        "Ops": [f"×{row['ops']:,}" if any(each["ops"] != 1 for each in rows) else "" for row in rows],
        f"{where} time ({time_unit})": [in_unit(row[time_ns] / iterations, length) for row in rows],
        f"On {unit}s": [_use(row) if has_units else "" for row in rows],
        "Bound by": [row.get("bound") or "" for row in rows],
        f"Could gain ({time_unit} of kernels)": [
            _gain(row, iterations, length) if where == "GPU" else "" for row in rows
        ],
    }
    if set(columns["Bound by"]) <= {"", "communication"}:  # Its name and its colour say that.
        del columns["Bound by"]
    return {head: cells for head, cells in columns.items() if any(cells)}


def _gain(row: Mapping[str, Any], iterations: int, length: int) -> str:
    """What kernels could gain; marked where that is known of a part of their time, as ``model/rated.ts`` has it."""
    gain, unrated = row.get("gain_ns") or 0, row.get("unrated_time_ns") or 0
    is_partly = unrated > _WORTH_MORE * (row.get("kernel_time_ns") or 0)
    return f"{'* ' * is_partly}{in_unit(gain / iterations, length)}" if gain > 0 else ""


def _use(row: Mapping[str, Any]) -> str:
    """The share of a group on matrix units; whether a kernel runs there."""
    if "using_tensor_cores" in row and "tensor_core_fraction" not in row:
        using = row["using_tensor_cores"]
        return "unknown" if using is None else "yes" if using else ""
    fraction = row["tensor_core_fraction"]
    return "" if fraction is None else share(fraction)


def _bars(rows: list[dict[str, Any]], unit: str, where: str, has_units: bool) -> tuple[list[str], str]:
    """The times, split by what limits them as on the pages, and the legend of the colours."""
    time_ns = f"{where.lower()}_time_ns"
    bars: list[str] = []
    seen: set[str] = set()
    for row in rows:
        time, pieces = row[time_ns], limits_of_row(row, where, has_units)
        parts = [
            Part(
                time * part,
                COLOURS[limit],
                f"{LIMITS[limit].format(unit=unit)}: {share(part)}, {duration(time * part)}",
            )
            for limit, part in pieces
        ]
        bars.append(charts.stacked_bar(f"{where} time of {row['name']}", parts, rows[0][time_ns]))
        seen.update(limit for limit, part in pieces if part >= LEAST_PIECE)
    named = [(COLOURS[limit], name.format(unit=unit), "") for limit, name in LIMITS.items() if limit in seen]
    return bars, markup.keys(named) if where == "GPU" else ""


def _table(
    title: str, note: str, legend: str, head: str, names: list[str], bars: list[str], shown: dict[str, list[str]]
) -> str:
    # A phone has room for the time, and what of it could go.
    kinds = ["n" if re.match("Share|[CG]PU time|Could gain", head) else "'n more'" for head in shown]
    rows = "".join(
        f"<tr><th scope=row><div><span>{name}</span>{bar}</div></th>"
        + "".join(f"<td class={kind}>{escape(cell or '–')}</td>" for kind, cell in zip(kinds, cells, strict=True))
        + "</tr>"
        for name, bar, *cells in zip(names, bars, *shown.values(), strict=True)
    )
    # In two lines where one has no room: the unit is the second.
    heads = "".join(
        f"<th scope=col class={kind}>{' ('.join(map(_unbroken, head.split(' (')))}</th>"
        for kind, head in zip(kinds, shown, strict=True)
    )
    return section(
        title,
        note,
        f"{legend}<div class=scroll tabindex=0 role=region aria-label='{title}'><table class=groups>"
        f"<thead><tr><th scope=col>{head}</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>",
    )


def _unbroken(text: str) -> str:
    return f"<span class=line>{escape(text)}</span>"


_WORTH_MORE = 0.01
"""Less than this of a kernel time that is not rated changes nothing that a gain is read for."""

_MOST_LETTERS = 58
_TAIL = 14
"""Of the name of a kernel: generated ones have hundreds. There are sizes and layouts at its end, which differ."""

_TENSILE = re.compile(r"(Cijk(?:_[A-Z][a-z]+){2}_[A-Za-z0-9]+)_.*?(MT\d+x\d+x\d+)(?:_.*?(MI\d+x\d+x\d+))?")
_XMMA = re.compile(r"(sm\d+_xmma_[a-z_]+)_((?:[a-z]+\d+){2})_\w*?tilesize(\d+x\d+x\d+)")
"""Generated names, of which layout or types and tile tell kernels apart, as ``model/kernel_name.ts`` has them."""


def _short(name: str) -> str:
    """The name of a kernel as on the pages."""
    if match := _TENSILE.match(name):
        problem, tile, instruction = match.groups()
        return f"{problem} ‹{' '.join(filter(None, [instruction, tile]))}›"
    if match := _XMMA.match(name):
        return "{} ‹{} {}›".format(*match.groups())
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - _TAIL]}…{name[-_TAIL:]}"


def _name(row: Mapping[str, Any], is_kernel: bool) -> str:
    name = str(row["name"])
    if not is_kernel:
        return f"{_called(name)} <span class=faint>{escape(row['direction'] or '')}</span>"
    return f'<code title="{escape(name)}">{escape(_short(name))}</code>'


def _called(name: str) -> str:
    """The path of a group as on the pages: where it is faint, the root left out."""
    if name.startswith(_NO_OP):
        return f"<span class=faint>no op: </span>{markup.path(name.removeprefix(_NO_OP))}"
    place, slash, own = name.rstrip("/").rpartition("/")
    where = f"<span class=faint>{markup.path(place + slash)}</span>" if place else ""
    return f"{where}{'<wbr>' if where else ''}{markup.path(own or name)}"


_NO_OP = "unassociated_"
