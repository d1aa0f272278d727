"""Comparisons as text of about 100 columns, as Markdown for a pull request, and as HTML that needs no network."""

from __future__ import annotations

import heapq
import textwrap
from collections.abc import Iterable, Sequence
from html import escape

from tensorboard_plugin_dlprof.comparing.as_json import is_changed
from tensorboard_plugin_dlprof.comparing.attribution import Row
from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.limits import Outcome
from tensorboard_plugin_dlprof.comparing.memory import HeldRow
from tensorboard_plugin_dlprof.comparing.replacements import Replacement
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of
from tensorboard_plugin_dlprof.comparing.words import duration, signed_duration, signed_percent
from tensorboard_plugin_dlprof.opening.regular_file import printable
from tensorboard_plugin_dlprof.units import size

Pairs = Sequence[tuple[Comparison, Sequence[Outcome]]]
"""Comparisons, each with what became of the limits."""

_COLUMNS = 100
_NAME, _KERNEL = 54, 32
_KERNELS = 5

_HEADINGS = ("Change", "A", "B", "%", "What", "Matched by")

_UNITS = {"iteration": "iteration", "call": "run of the program", "capture": "capture"}


def text(pairs: Pairs, top: int) -> str:
    """Plain text; ``top`` rows of each comparison."""
    blocks = []
    for comparison, outcomes in pairs:
        lines = [f"A: {_side(comparison.a)}", f"B: {_side(comparison.b)}", ""]
        lines += textwrap.wrap(verdict_of(comparison).sentence, _COLUMNS)
        for sentence in comparison.comparability:
            lines += textwrap.wrap(sentence, _COLUMNS, initial_indent="- ", subsequent_indent="  ")
        lines += ["", _title(comparison), f"{'change':>10} {'A':>10} {'B':>10} {'%':>9}  what"]
        for row in _largest(comparison, top):
            mark = "" if is_changed(comparison, row) else " ~" if row.estimate else ""
            name = _shortened(row.name, _NAME)
            lines.append(
                f"{signed_duration(row.change_ns):>10} {duration(row.a_ns):>10} {duration(row.b_ns):>10} "
                f"{_percent(row):>9}  {name}{mark}"
            )
        lines += _more(comparison, top)
        if comparison.replacements:
            lines += ["", "Kernels replaced"]
            for one in comparison.replacements[:_KERNELS]:
                a, b = _times(comparison, one)
                lines.append(f"{duration(a):>10} -> {duration(b):>10}  {_kernels(one)}")
        for by, held in _held_lists(comparison):
            lines += ["", f"Memory at the peak by {by}, in rows that add up to it", *map(_held, held)]
        if comparison.memory.not_recorded:
            lines += ["", comparison.memory.not_recorded]
        if outcomes:
            lines += ["", *(f"{_outcome(outcome)}: {outcome.rule}: {outcome.said}" for outcome in outcomes)]
        blocks.append("\n".join(printable(line) for line in lines))
    return "\n\n\n".join(blocks) + "\n"


def markdown(pairs: Pairs, top: int) -> str:
    """Markdown; ``top`` rows of each comparison."""
    blocks = []
    for comparison, outcomes in pairs:
        verdict = verdict_of(comparison)
        lines = [f"**{_plain(verdict.headline)}** {_plain(verdict.details)}".strip(), ""]
        lines += [f"- A: {_plain(_side(comparison.a))}", f"- B: {_plain(_side(comparison.b))}"]
        lines += [f"- {_plain(sentence)}" for sentence in comparison.comparability]
        lines += ["", _plain(_title(comparison)), "", f"| {' | '.join(_HEADINGS)} |", "|--:|--:|--:|--:|---|---|"]
        lines += [f"| {' | '.join(map(_plain, _cells(comparison, row)))} |" for row in _largest(comparison, top)]
        lines += ["", *map(_plain, _more(comparison, top))]
        for by, held in _held_lists(comparison):
            lines += ["", f"| Change | A | B | Memory at the peak by {by} |", "|--:|--:|--:|---|"]
            lines += [f"| {' | '.join(map(_plain, _held_cells(row)))} |" for row in held]
        if comparison.memory.not_recorded:
            lines += ["", comparison.memory.not_recorded]
        if outcomes:
            lines += ["", "| Limit | Result | |", "|---|---|---|"]
            lines += [
                f"| {_plain(outcome.rule)} | {_outcome(outcome)} | {_plain(outcome.said)} |" for outcome in outcomes
            ]
        blocks.append("\n".join(lines))
    return "\n\n---\n\n".join(blocks) + "\n"


def html(pairs: Pairs, top: int) -> str:
    """One HTML file without scripts; ``top`` rows of each comparison."""
    body = []
    for comparison, outcomes in pairs:
        verdict = verdict_of(comparison)
        body.append(f"<h1>{_safe(verdict.headline)}</h1><p>{_safe(verdict.details)}</p>")
        facts = [f"A: {_side(comparison.a)}", f"B: {_side(comparison.b)}", *comparison.comparability]
        body.append("<ul>" + "".join(f"<li>{_safe(fact)}</li>" for fact in facts) + "</ul>")
        body.append(f"<h2>{_safe(_title(comparison))}</h2>")
        body.append(
            _html_table(_HEADINGS, ((_class(row), _cells(comparison, row)) for row in _largest(comparison, top)))
        )
        body += [f"<p>{_safe(line)}</p>" for line in _more(comparison, top) if line]
        if comparison.replacements:
            body.append("<h2>Kernels replaced</h2>")
            rows = (
                ("less" if b < a else "more", [signed_duration(b - a), duration(a), duration(b), "", _kernels(one), ""])
                for one, (a, b) in ((one, _times(comparison, one)) for one in comparison.replacements[:top])
            )
            body.append(_html_table(("Change", "A", "B", "", "Kernels", ""), rows))
        for by, held in _held_lists(comparison):
            body.append(f"<h2>Memory at the peak by {by}</h2>")
            cells = (([*_held_cells(row)[:3], "", row.name], row.change_bytes) for row in held)
            rows = (("less" if change < 0 else "more", each) for each, change in cells)
            body.append(_html_table(("Change", "A", "B", "", by.capitalize()), rows))
        if comparison.memory.not_recorded:
            body.append(f"<p>{_safe(comparison.memory.not_recorded)}</p>")
        if outcomes:
            body.append("<h2>Limits</h2><ul>")
            body += [f"<li>{_outcome(one)}: {_safe(one.rule)}: {_safe(one.said)}</li>" for one in outcomes]
            body.append("</ul>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>DLProf compare</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


_STYLE = (
    "body{font:14px/1.5 system-ui,sans-serif;max-width:1100px;margin:24px auto;padding:0 16px;color:#202124;"
    "background:#fff}h1{font-size:20px}h2{font-size:16px}table{border-collapse:collapse;width:100%}"
    "td,th{padding:4px 8px;border-bottom:1px solid #dadce0;text-align:right;white-space:nowrap}"
    "td:nth-child(n+5),th:nth-child(n+5){text-align:left;white-space:normal;overflow-wrap:anywhere}"
    ".less td:first-child{color:#1155aa}.more td:first-child{color:#a84b00}"
    "@media(prefers-color-scheme:dark){body{color:#e8eaed;background:#202124}td,th{border-color:#5f6368}"
    ".less td:first-child{color:#8ab4f8}.more td:first-child{color:#fcad70}}"
)


def _html_table(headings: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    head = "".join(f"<th>{_safe(heading)}</th>" for heading in headings)
    lines = "".join(
        f'<tr class="{kind}">' + "".join(f"<td>{_safe(cell)}</td>" for cell in cells) + "</tr>" for kind, cells in rows
    )
    return f"<table><tr>{head}</tr>{lines}</table>"


def _class(row: Row) -> str:
    return "less" if row.change_ns < 0 else "more" if row.change_ns > 0 else "same"


def _side(side: Side) -> str:
    first = side.first
    devices = ", ".join(dict.fromkeys(filter(None, first.devices))) or "unknown GPU"
    count = f"{side.iterations:,} iteration{'s' if side.iterations != 1 else ''}" if side.marked else "no iterations"
    return f"{side.name} ({devices}; {count})"


def _title(comparison: Comparison) -> str:
    return (
        f"Change of one {_UNITS[comparison.per]}: {signed_duration(comparison.change_ns)}, "
        f"{duration(comparison.a_ns)} -> {duration(comparison.b_ns)}"
    )


def _largest(comparison: Comparison, top: int) -> list[Row]:
    return heapq.nlargest(top, comparison.rows, key=lambda row: (abs(row.change_ns), -row.position))


def _more(comparison: Comparison, top: int) -> list[str]:
    """What is not shown, and what was not tested."""
    lines = []
    rest = len(comparison.rows) - top
    if rest > 0:
        shown = sum(row.change_ns for row in _largest(comparison, top))
        others = comparison.change_ns - shown
        lines.append(f"{signed_duration(others):>10} in {rest:,} more rows; all rows add up to the change.")
    tested = sum(row.estimate is not None for row in comparison.rows)
    changed = sum(is_changed(comparison, row) for row in comparison.rows)
    if tested:
        chance = f" About {round(tested / 20):,} would be by chance alone." if changed < tested / 20 else ""
        lines.append(f"{changed:,} of {tested:,} tested rows changed by more than noise; ~ marks the others.{chance}")
    else:
        lines.append("No row was tested: that takes four iterations of each side.")
    return lines


def _cells(comparison: Comparison, row: Row) -> list[str]:
    mark = "" if is_changed(comparison, row) or row.estimate is None else " ~"
    return [
        signed_duration(row.change_ns),
        duration(row.a_ns),
        duration(row.b_ns),
        _percent(row),
        row.name + mark,
        row.matched_by,
    ]


def _held_lists(comparison: Comparison) -> list[tuple[str, list[HeldRow]]]:
    memory = comparison.memory
    return [(by, rows) for by, rows in (("category", memory.by_category), ("op", memory.by_op)) if rows]


def _held(row: HeldRow) -> str:
    change, a, b, name = _held_cells(row)
    return f"{change:>10} {a:>10} {b:>10} {'':>9}  {_shortened(name, _NAME)}"


def _held_cells(row: HeldRow) -> list[str]:
    sign = "+" if row.change_bytes > 0 else "-" if row.change_bytes < 0 else ""
    return [f"{sign}{size(abs(row.change_bytes))}", size(row.a_bytes), size(row.b_bytes), row.name]


def _percent(row: Row) -> str:
    return signed_percent(row.change_ns / row.a_ns) if row.a_ns > 0 else "new" if row.kind == "new" else ""


def _times(comparison: Comparison, one: Replacement) -> tuple[float, float]:
    return float(one.a.time_ns / comparison.a.divisor), float(one.b.time_ns / comparison.b.divisor)


def _kernels(one: Replacement) -> str:
    a, b = (_shortened(use.names[0], _KERNEL) + (" ..." if len(use.names) > 1 else "") for use in (one.a, one.b))
    return f"{a} -> {b}"


def _shortened(name: str, most: int) -> str:
    """The name, without its middle if it is long: paths end in what tells them apart."""
    return name if len(name) <= most else f"{name[: most // 3]}…{name[-(most - most // 3 - 1) :]}"


def _outcome(outcome: Outcome) -> str:
    return "cannot tell" if outcome.broken is None else "BROKEN" if outcome.broken else "kept"


def _plain(value: str) -> str:
    """A text in which Markdown and HTML find no markup, on one line."""
    safe = escape(printable(value), quote=False)
    return "".join(f"\\{letter}" if letter in "\\`*_[]|~" else letter for letter in safe)


def _safe(value: str) -> str:
    return escape(printable(value))
