"""The Dashboard as HTML: the answer, key figures, what to change, where the time goes, and DLProf's panels."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from html import escape

from tensorboard_plugin_dlprof.diagnosis.as_data import least_computing
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES
from tensorboard_plugin_dlprof.queries import crossing, iteration_bars, summary, system
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.memory import known_peak, memory
from tensorboard_plugin_dlprof.queries.numbers import minus, plus
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.throughput import throughput
from tensorboard_plugin_dlprof.reports import answer, charts, markup
from tensorboard_plugin_dlprof.reports.charts import Part
from tensorboard_plugin_dlprof.reports.curve import over_time
from tensorboard_plugin_dlprof.reports.groups import groups
from tensorboard_plugin_dlprof.reports.held import held
from tensorboard_plugin_dlprof.reports.limits import limits
from tensorboard_plugin_dlprof.reports.markup import UNKNOWN, at_least, duration, keys, legend, number, section, share
from tensorboard_plugin_dlprof.reports.strip import strip
from tensorboard_plugin_dlprof.units import column_unit, in_unit, significant, size

_RESOURCES = {
    "tensor_core": "{unit} kernels",
    "unknown_kernel": "Unknown kernels",
    "other_kernel": "Other kernels",
    "memory": "Memory",
    "data_loader": "Data loader",
    "io": "I/O",
    "cpu": "CPU, ops and calls",
    "other": "Other, unrecorded",
}

_AS_PARTS = {
    resource: NAMES[part]
    for resource, part in {
        "tensor_core": "compute_tensor",
        "unknown_kernel": "compute_unknown",
        "other_kernel": "compute_other",
        "memory": "copy",
        "data_loader": "data_loader",
        "io": "io",
        "cpu": "host_op",
        "other": "unrecorded",
    }.items()
}
"""What DLProf's classes are called where no diagnosis tells the parts of an iteration, as on the Dashboard
(``model/step.ts`` has the same)."""


def dashboard(connection: sqlite3.Connection, scope: Scope, diagnosis: answer.Diagnosis | None = None) -> Iterator[str]:
    """The sections of the dashboard, in order; ``diagnosis`` is the diagnosis, if there is one."""
    unit = system.matrix_unit(connection)
    times = summary.kernel_time(connection, scope)
    on_gpu = any(times[kind]["time_ns"] for kind in ("total", "memory", "graph"))
    units = list(_tensor_cores(connection, scope, unit))
    tiles = [] if on_gpu else units
    if diagnosis is not None:
        host = [] if on_gpu else _on_host(connection, scope, unit)
        yield from answer.sentence(diagnosis, unit, host, _profiled(connection, scope))
        tiles = answer.tiles(diagnosis, list(_throughput(connection, scope)), units) or tiles
    memory_alone = not (tiles or on_gpu)
    if memory_alone:
        yield from _memory(connection, alone=True)
    tiles += _peak(connection) if tiles else []
    yield _figures(tiles if tiles or not on_gpu else key_figures(connection, scope, unit))
    if diagnosis is not None and diagnosis["findings"]:
        yield from answer.changes(diagnosis)
    else:
        yield _recommendations(connection, scope)
    yield groups(connection, scope, unit, "GPU" if on_gpu else "CPU", diagnosis)
    yield limits(connection, scope, unit)
    drawn = [] if diagnosis is None else list(answer.iterations(diagnosis, unit))
    if diagnosis is not None and not drawn:
        yield strip(connection, diagnosis)
    has_parts = diagnosis is not None and least_computing(diagnosis) is not None
    classes = _RESOURCES if has_parts else _AS_PARTS
    yield from drawn or [_iterations(connection, scope, unit, classes)]
    if not memory_alone:
        yield from _memory(connection, alone=False)
    if on_gpu:
        parts = resources(connection, scope, unit, diagnosis)
        yield f"<div class=pair>{parts}{_kernels(connection, scope, unit)}</div>"
    yield _notes(connection, scope, "" if diagnosis is None else diagnosis["headline"])
    yield _system(connection)


def _on_host(connection: sqlite3.Connection, scope: Scope, unit: str) -> list[tuple[str, str, int]]:
    """The parts of an iteration by DLProf's classes, as far as they are known: name, class of the colour, and mean."""
    count = _profiled(connection, scope)
    parts = summary.resource_breakdown(connection, scope)
    known: list[tuple[str, str, int]] = [
        (_AS_PARTS[part["resource"]].format(unit=unit), part["resource"], round(part["time_ns"] / count))
        for part in parts
        if part["time_ns"]
    ]
    # A bar of which nothing is known tells nothing.
    return [] if all(resource == "other" for _, resource, _ in known) else known


def _profiled(connection: sqlite3.Connection, scope: Scope) -> int:
    return max(summary.performance(connection, scope)["profiled_iterations"] or 1, 1)


def key_figures(connection: sqlite3.Connection, scope: Scope, unit: str) -> list[answer.Tile]:
    """Name, value and meaning of the key figures of a profile; ``unit`` is from ``system.matrix_unit``."""
    used = summary.gpu_utilization(connection, scope)
    efficiency = summary.tensor_core_efficiency(connection, scope)
    times = summary.performance(connection, scope)
    model = summary.model_summary(connection, scope)
    return [
        ("GPU utilization", share(used["fraction"]), "Time with a kernel running, over the wall clock time."),
        (
            f"{unit} efficiency",
            at_least(share(efficiency["fraction"]), efficiency["unknown_ns"]),
            f"Kernel time of eligible ops that is on {unit}s.",
        ),
        ("Wall clock time", duration(times["wall_clock_ns"]), "Of the aggregated iterations."),
        (
            "Iterations",
            f"{number(times['profiled_iterations'])} of {number(times['total_iterations'])}",
            f"{duration(times['average_iteration_ns'])} on average.",
        ),
        (
            f"Ops using {unit}s",
            at_least(
                f"{number(model['eligible_ops_using_tensor_cores'])} of {number(model['eligible_ops'])}",
                model["eligible_ops_unknown"],
            ),
            "Of the ops that could.",
        ),
    ]


def _tensor_cores(connection: sqlite3.Connection, scope: Scope, unit: str) -> Iterator[answer.Tile]:
    """Of what could be on matrix units; of all kernels where no op tells what could. Times are of an iteration."""
    if not system.has_matrix_units(connection):
        return
    result, times = summary.tensor_core_efficiency(connection, scope), summary.kernel_time(connection, scope)
    iterations = max(summary.performance(connection, scope)["profiled_iterations"] or 1, 1)
    used: int | None
    untold: int | None
    if result["fraction"] is not None:
        used, whole, what = (
            result["tensor_core_ns"] or 0,
            result["kernel_ns"] or 0,
            "kernels of ops that could use them",
        )
        untold = result["unknown_ns"]
    else:
        used, what = times["tensor_core"]["time_ns"], "all kernels"
        untold = (times["unknown"]["time_ns"] or 0) + (times["graph"]["time_ns"] or 0)
        kernels = (times["total"]["time_ns"] or 0) - (times["memory"]["time_ns"] or 0)
        whole = kernels + (times["graph"]["time_ns"] or 0)
    if used is not None and whole > 0:
        value = at_least(share(used / whole), untold)
        of_it = duration(used / iterations) if used else "None"
        yield f"On {unit}s", value, f"{of_it} of {duration(whole / iterations)} in {what}."


def _peak(connection: sqlite3.Connection) -> Iterator[answer.Tile]:
    result = known_peak(connection)
    if result is not None:
        largest = ", ".join(f"{name} {share(percent / 100)}" for name, percent in result["shares"])
        since = " more than at the start of the recording" if result["relative"] else ""
        what = f"The most that was {result['peak_of']} on GPU {result['device']}{since}"
        yield "Peak memory", size(result["peak_bytes"]), f"{what}: {largest}." if largest else f"{what}."


def _memory(connection: sqlite3.Connection, alone: bool) -> Iterator[str]:
    """Memory over time, and what held the peak; beside times of the GPU that holds most alone, as on the Dashboard."""
    answers, most = memory(connection), known_peak(connection)
    for device, each in answers["devices"].items():
        if not alone and (most is None or device != most["device"]):
            continue
        if each["events"]:
            yield over_time(connection, device, each, "" if alone else answers["headline"].replace("`", ""))
        elif len(each["at_peak"]) > 1:
            yield held(device, each)


def _throughput(connection: sqlite3.Connection, scope: Scope) -> Iterator[answer.Tile]:
    result = throughput(connection, scope)
    samples = "Samples", result["samples_per_s"], result["samples_per_iteration"], result["samples_from"]
    tokens = "Tokens", result["tokens_per_s"], result["tokens_per_iteration"], result["tokens_from"]
    for name, rate, each, origin in (samples, tokens):
        if rate is not None and each is not None:
            how = "as was given" if origin == "given" else "by the shapes of the first layer"
            yield f"{name} a second", significant(rate), f"{each:,.0f} in an iteration, {how}."
            return


def _figures(tiles: list[answer.Tile]) -> str:
    figures = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd class=meaning>{markup.typeset(meaning)}</dd></div>"
        for name, value, meaning in tiles
    )
    return f'<dl class="figures">{figures}</dl>' if tiles else ""


def _notes(connection: sqlite3.Connection, scope: Scope, headline: str) -> str:
    """What the recording lacks; what the headline says of it is not said again."""
    notes = [
        f"{'' if note['message'] in headline else note['message']} {note['hint']}".strip()
        for note in coverage_notes(connection, scope)
    ]
    items = "".join(f"<li>{markup.with_code(note)}</li>" for note in notes if note)
    return section("What this recording holds", "", f'<ul class="notes">{items}</ul>') if items else ""


def resources(
    connection: sqlite3.Connection, scope: Scope, unit: str, diagnosis: answer.Diagnosis | None = None
) -> str:
    """The section with the parts of the wall time: a bar, and a table that is its legend."""
    parts = summary.resource_breakdown(connection, scope)
    performance, has_units = summary.performance(connection, scope), system.has_matrix_units(connection)
    others_ns = next(part["time_ns"] for part in parts if part["resource"] == "other_kernel")
    exposed_ns = answer.exposed_communication(diagnosis, performance["profiled_iterations"], others_ns)
    whole_ns = plus(*(part["time_ns"] or 0 for part in parts)) or 0
    unknown_ns = next(part["time_ns"] for part in parts if part["resource"] == "unknown_kernel")
    rows: list[tuple[str, str, int | None, float | None]] = []
    for part in parts:
        key = part["resource"]
        if (key == "unknown_kernel" and not unknown_ns) or (key == "tensor_core" and not has_units):
            continue
        if key == "other_kernel" and exposed_ns and others_ns:
            left_ns = others_ns - exposed_ns
            rows.append((key, _RESOURCES[key], left_ns, left_ns / whole_ns))
            rows.append(("communication", "Exposed communication", exposed_ns, exposed_ns / whole_ns))
            continue
        name = _RESOURCES[key].format(unit=unit)
        if key == "unknown_kernel" and not summary.kernel_time(connection, scope)["unknown"]["launches"]:
            name = "In CUDA graphs"
        if key == "tensor_core" and unknown_ns and part["time_ns"]:
            name += ", at least"
        rows.append((key, name, part["time_ns"], part["fraction"]))
    chart = charts.stacked_bar(
        "What fills the wall clock time",
        [Part(time or 0, key, f"{name}: {duration(time)}, {share(fraction)}") for key, name, time, fraction in rows],
    )
    name_of, length = column_unit([time for _, _, time, _ in rows])
    table = legend(
        ("Resource", f"Time ({name_of})", "Share"),
        [
            (key, name, in_unit(t, length), share(f))
            if t is not None
            else (key, name, UNKNOWN, "")
            if key == "tensor_core"
            else (key, name, "not recorded", "")
            for key, name, t, f in rows
        ],
    )
    above = diagnosis is not None and least_computing(diagnosis) is not None
    other = "; the bar at the top divides it by what the GPU waited for" if above else ""
    note = (
        f"DLProf's parts of the wall clock time{_of_iterations(connection, scope)}, which divide idle time by what the "
        f"host did meanwhile{other}.{answer.span(diagnosis, performance['wall_clock_ns'])}"
    ) + (
        f" Of unknown kernels, and of those in CUDA graphs recorded as a whole, nothing tells whether they use {unit}s."
        if unknown_ns
        else ""
    )
    return section("Resource usage", note, chart + table)


def _kernels(connection: sqlite3.Connection, scope: Scope, unit: str) -> str:
    times = summary.kernel_time(connection, scope)
    untold = (times["unknown"]["launches"] or 0) + (times["graph"]["launches"] or 0)
    least = ", at least" if untold and times["tensor_core"]["launches"] else ""
    apart = summary.collectives(connection, scope)
    classes: dict[str, summary.KernelClassTime] = dict(times.items())
    if apart["time_ns"]:
        others = times["other_kernel"]
        classes["communication"] = apart
        classes["other_kernel"] = summary.KernelClassTime(
            time_ns=minus(others["time_ns"], apart["time_ns"]),
            names=None,
            launches=minus(others["launches"], apart["launches"]),
        )
    names = {
        "tensor_core": f"{unit} kernels{least}",
        "unknown": "Unknown kernels",
        "other_kernel": "Other kernels",
        "communication": "Communication",
        "memory": "Memory",
        "graph": "In CUDA graphs",
    }
    shown = {key for key in classes if key not in ("unknown", "graph") or classes[key]["launches"]}
    shown -= set() if system.has_matrix_units(connection) else {"tensor_core"}
    names = {key: name for key, name in names.items() if key in shown}
    total = plus(times["total"]["time_ns"], times["graph"]["time_ns"] or 0)
    chart = charts.stacked_bar(
        "Kernel time by kind",
        [
            Part(classes[key]["time_ns"] or 0, _OF_KIND.get(key, key), f"{name}: {duration(classes[key]['time_ns'])}")
            for key, name in names.items()
        ],
    )
    rows = []
    unit_name, length = column_unit([classes[key]["time_ns"] for key in names])
    for key, name in names.items():
        kind = classes[key]
        part = None if kind["time_ns"] is None or not total else kind["time_ns"] / total
        rows.append(
            (
                _OF_KIND.get(key, key),
                name,
                UNKNOWN if kind["time_ns"] is None else in_unit(kind["time_ns"], length),
                share(part),
                number(kind["launches"]),
            )
        )
    table = legend(("Kind", f"Time ({unit_name})", "Share", "Launches"), rows)
    note = f"Sums of durations{_of_iterations(connection, scope)}; overlap counts twice."
    crossed = (crossing.ran_late(connection, scope), summary.launched_outside(connection, scope))
    return section("Kernel time", " ".join(filter(None, (note, *crossed))), chart + table)


def _of_iterations(connection: sqlite3.Connection, scope: Scope) -> str:
    """`` in 6 iterations``, of what is a sum over several."""
    count = summary.performance(connection, scope)["profiled_iterations"] or 1
    return f" in {count:,} iterations" if count > 1 else ""


_OF_KIND = {"unknown": "unknown_kernel", "graph": "unknown_kernel"}
"""Colour classes of kinds of kernels whose names differ from those of resources."""


def _iterations(connection: sqlite3.Connection, scope: Scope, unit: str, classes: Mapping[str, str]) -> str:
    rows, binned = iteration_bars.iteration_rows(connection, scope)
    if len(rows) == 1 and not binned:  # one iteration is the bar of the wall time
        return ""
    stacks = []
    for row in rows:
        name = f"Iteration {row['iteration']}" + (f" to {row['stop_iteration']}" if binned else "")
        if row["parts"] is None:
            stacks.append(
                [Part(row["duration_ns"] or 0, "outside", f"{name}: {duration(row['duration_ns'])}, left out")]
            )
            continue
        stacks.append(
            [
                Part(time or 0, key, f"{name}: {classes[key].format(unit=unit)} {duration(time)}")
                for key, time in row["parts"].items()
                if time or key != "unknown_kernel"
            ]
        )
    ends = f"{rows[0]['iteration']} to {rows[-1]['stop_iteration']}" if rows else "none"
    walls = [row["duration_ns"] or 0 for row in rows]
    note = f"Iterations {ends}: how long they took and what filled them. The longest took "
    note += f"{duration(max(walls, default=0))}{'; each column is the sum of several' if binned else ''}."
    names = [f"Iteration {row['iteration']}" for row in rows]
    bars = answer.durations(names, walls, stacks, answer.longest_shown(walls))
    times = [part for row in rows for part in (row["parts"] or {}).items()]
    sums = {key: sum(time or 0 for part, time in times if part == key) for key in classes}
    counted = sum(sums.values())
    colours = [(key, classes[key].format(unit=unit), share(ns / counted)) for key, ns in sums.items() if ns]
    return section("Iterations", note, bars + keys(colours))


def _recommendations(connection: sqlite3.Connection, scope: Scope) -> str:
    result = summary.recommendations(connection, scope)
    items = "".join(f"<dt>{escape(item['problem'])}</dt><dd>{escape(item['recommendation'])}</dd>" for item in result)
    return section("Recommendations", "", f"<dl>{items}</dl>") if result else ""


def _system(connection: sqlite3.Connection) -> str:
    """The machine and the software, on which the numbers depend; what made the report stands at its top."""
    told = {"viewer_version", "num_gpus"} if system.gpu_names(connection) else {"viewer_version"}
    facts = [fact for fact in system.system_facts(connection) if fact["key"] not in told]
    return section("System", "", keys([("", fact["label"], fact["value"]) for fact in facts])) if facts else ""
