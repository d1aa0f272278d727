"""Comparisons as text of about 100 columns, as Markdown for a pull request, and as HTML that needs no network."""

from __future__ import annotations

import heapq
import re
import textwrap
from collections.abc import Iterable, Sequence
from html import escape

from tensorboard_plugin_dlprof.comparing.as_json import is_changed
from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.groups import Group
from tensorboard_plugin_dlprof.comparing.limits import Outcome
from tensorboard_plugin_dlprof.comparing.memory import HeldRow
from tensorboard_plugin_dlprof.comparing.replacements import Replacement
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of
from tensorboard_plugin_dlprof.comparing.words import (
    duration,
    share,
    short_path,
    signed_duration,
    signed_share,
    told_apart,
)
from tensorboard_plugin_dlprof.opening.regular_file import printable
from tensorboard_plugin_dlprof.units import column_unit, in_unit, size

Pairs = Sequence[tuple[Comparison, Sequence[Outcome]]]
"""Comparisons, each with what became of the limits."""

_COLUMNS = 100
_NAME, _HELD, _KERNEL = 46, 54, 32
_KERNELS = 5

_UNITS = {"iteration": "iteration", "call": "run of the program", "capture": "capture"}


def text(pairs: Pairs, top: int) -> str:
    """Plain text; ``top`` groups of each comparison."""
    blocks = []
    for comparison, outcomes in pairs:
        lines = [f"A: {_side(comparison.a)}", f"B: {_side(comparison.b)}", ""]
        lines += textwrap.wrap(verdict_of(comparison).sentence, _COLUMNS)
        for sentence in comparison.comparability:
            lines += textwrap.wrap(sentence, _COLUMNS, initial_indent="- ", subsequent_indent="  ")
        if comparison.tells_times:
            lines += ["", _title(comparison), *_text_rows(comparison, top), *_more(comparison, top)]
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
    """Markdown; ``top`` groups of each comparison."""
    blocks = []
    for comparison, outcomes in pairs:
        verdict = verdict_of(comparison)
        lines = [f"**{_plain(verdict.headline)}** {_plain(verdict.more)}".strip(), ""]
        lines += [f"- A: {_plain(_side(comparison.a))}", f"- B: {_plain(_side(comparison.b))}"]
        lines += [f"- {_plain(sentence)}" for sentence in comparison.comparability]
        if comparison.tells_times:
            headings, rows = _table(comparison, top)
            lines += ["", _plain(_title(comparison)), "", f"| {' | '.join(headings)} |", "|--:|--:|--:|--:|---|--:|"]
            lines += [f"| {' | '.join(map(_plain, cells))} |" for _, cells in rows]
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
    """One HTML file without scripts; ``top`` groups of each comparison."""
    body = []
    for comparison, outcomes in pairs:
        verdict = verdict_of(comparison)
        body.append(f"<h1>{_typeset(verdict.headline)}</h1><p>{_typeset(verdict.more)}</p>")
        facts = [f"A: {_side(comparison.a)}", f"B: {_side(comparison.b)}", *comparison.comparability]
        body.append("<ul>" + "".join(f"<li>{_typeset(fact)}</li>" for fact in facts) + "</ul>")
        if comparison.tells_times:
            body.append(f"<h2>{_typeset(_title(comparison))}</h2>")
            body.append(_html_table(*_table(comparison, top)))
            body += [f"<p>{_safe(line)}</p>" for line in _more(comparison, top) if line]
        if comparison.replacements:
            body.append("<h2>Kernels replaced</h2>")
            body.append(_html_table(*_replaced(comparison, top)))
        for by, held in _held_lists(comparison):
            body.append(f"<h2>Memory at the peak by {by}</h2>")
            cells = ((_class(row.change_bytes), [*_held_cells(row)[:3], "", row.name]) for row in held)
            body.append(_html_table(("Change", "A", "B", "", by.capitalize()), cells))
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
    "body{font:14px/1.5 -apple-system,'Segoe UI',Roboto,Ubuntu,Cantarell,'Noto Sans','Liberation Sans',Arial,"
    "sans-serif;max-width:1100px;margin:24px auto;padding:0 16px;color:#202124;"
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


def _class(change: float) -> str:
    return "less" if change < 0 else "more" if change > 0 else "same"


def _side(side: Side) -> str:
    first = side.first
    devices = ", ".join(dict.fromkeys(filter(None, first.devices))) or "unknown GPU"
    count = f"{side.iterations:,} iteration{'s' if side.iterations != 1 else ''}" if side.marked else "no iterations"
    return f"{side.name} ({devices}; {count})"


def _title(comparison: Comparison) -> str:
    means = ", on average" if comparison.is_of_means else ""
    return (
        f"Change of one {_UNITS[comparison.per]}{means}: {signed_duration(comparison.change_ns)}, "
        f"{duration(comparison.a_ns)} -> {duration(comparison.b_ns)}"
    )


def _largest(comparison: Comparison, top: int) -> list[Group]:
    return heapq.nlargest(
        top, comparison.groups, key=lambda one: (one.is_cause, abs(one.change_ns), -one.rows[0].position)
    )


def _more(comparison: Comparison, top: int) -> list[str]:
    """What is not shown, and what was not tested."""
    lines = []
    shown = _largest(comparison, top)
    hidden = [group for group in comparison.groups if group not in shown]
    for group in hidden:
        if not group.is_cause and group.change_ns:
            lines.append(
                f"{signed_duration(group.change_ns):>10} in overlap and boundaries: rows count each kernel in full."
            )
    others = sum(group.change_ns for group in hidden if group.is_cause)
    rest = sum(group.is_cause for group in hidden)
    if rest > 0:
        lines.append(f"{signed_duration(others):>10} in {rest:,} more groups; all groups add up to the change.")
    tested = sum(group.estimate is not None for group in comparison.groups)
    changed = sum(is_changed(comparison, group) for group in comparison.groups)
    if tested:
        chance = f" About {round(tested / 20):,} would be by chance alone." if changed < tested / 20 else ""
        lines.append(f"{changed:,} of {tested:,} tested groups changed by more than noise; ~ marks the others.{chance}")
    else:
        lines.append("No group was tested: that takes four iterations of each side.")
    lines.append("Times of ops are those of their kernels, without copies and memsets.")
    return lines


def _table(comparison: Comparison, top: int, most: int | None = None) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The headings, with the unit of the times, and a row for each of the largest groups: its class and cells.

    Args:
        comparison: the comparison.
        top: how many groups.
        most: letters of a name.
    """
    groups = _largest(comparison, top)
    unit, length = column_unit([time for one in groups for time in (one.change_ns, one.a_ns, one.b_ns)])
    headings = [f"{name} ({unit})" for name in ("Change", "A", "B")]
    rows = [(_class(one.change_ns), _cells(comparison, one, length, most)) for one in groups]
    return [*headings, "%", "What", "Of the change"], rows


def _text_rows(comparison: Comparison, top: int) -> list[str]:
    (change, a, b, *_), rows = _table(comparison, top, _NAME)
    lines = [f"{change:>11} {a:>10} {b:>10} {'%':>9} {'of it':>8}  what"]
    for _, (change, a, b, percent, name, of_it) in rows:
        lines.append(f"{change:>11} {a:>10} {b:>10} {percent:>9} {of_it:>8}  {name}")
    return lines


def _replaced(comparison: Comparison, top: int) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """As ``_table``, of the kernels replaced, those with the most time under their whole names."""
    times = [(*_times(comparison, one), one) for one in comparison.replacements[:top]]
    unit, length = column_unit([time for a, b, _ in times for time in (a, b, b - a)])
    rows = [
        (
            _class(b - a),
            [
                *(_signed(b - a, length), in_unit(a, length), in_unit(b, length), ""),
                *(_first_of(use.names) for use in (one.a, one.b)),
            ],
        )
        for a, b, one in times
    ]
    return [*(f"{name} ({unit})" for name in ("Change", "A", "B")), "", "Kernels of A", "Kernels of B"], rows


def _first_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"


def _signed(time_ns: float, unit_ns: int) -> str:
    return ("+" if time_ns > 0 else "") + in_unit(time_ns, unit_ns)


def _cells(comparison: Comparison, group: Group, unit_ns: int, most: int | None) -> list[str]:
    """Change, A, B, percent, name and share of the change of a group, times in units of ``unit_ns``."""
    mark = "" if is_changed(comparison, group) or group.estimate is None else "~"
    more = " ".join(filter(None, (group.direction, _count(group), mark)))
    name = group.name if most is None else short_path(group.name, most - len(more) - bool(more))
    return [
        _signed(group.change_ns, unit_ns),
        in_unit(group.a_ns, unit_ns),
        in_unit(group.b_ns, unit_ns),
        _percent(group),
        f"{name} {more}".rstrip(),
        "" if group.of_change is None else share(group.of_change),
    ]


def _count(group: Group) -> str:
    """How many ops a group stands for: ``×48``; nothing for one."""
    a, b = group.counts
    if a is None or b is None or max(a, b) < 2:
        return ""
    return f"×{max(a, b):,}" if a == b or not a or not b else f"×{a:,} -> ×{b:,}"


def _held_lists(comparison: Comparison) -> list[tuple[str, list[HeldRow]]]:
    memory = comparison.memory
    return [(by, rows) for by, rows in (("category", memory.by_category), ("op", memory.by_op)) if rows]


def _held(row: HeldRow) -> str:
    change, a, b, name = _held_cells(row)
    return f"{change:>11} {a:>10} {b:>10}  {short_path(name, _HELD)}"


def _held_cells(row: HeldRow) -> list[str]:
    sign = "+" if row.change_bytes > 0 else "-" if row.change_bytes < 0 else ""
    return [f"{sign}{size(abs(row.change_bytes))}", size(row.a_bytes), size(row.b_bytes), row.name]


def _percent(group: Group) -> str:
    if group.a_ns > 0:
        return signed_share(group.change_ns / group.a_ns)
    return "new" if group.b and not group.a else ""


def _times(comparison: Comparison, one: Replacement) -> tuple[float, float]:
    return float(one.a.time_ns / comparison.a.divisor), float(one.b.time_ns / comparison.b.divisor)


def _kernels(one: Replacement) -> str:
    a, b = told_apart(one.a.names[0], one.b.names[0], _KERNEL)
    return " -> ".join(name + (" ..." if len(use.names) > 1 else "") for name, use in ((a, one.a), (b, one.b)))


def _outcome(outcome: Outcome) -> str:
    return "cannot tell" if outcome.broken is None else "BROKEN" if outcome.broken else "kept"


def _plain(value: str) -> str:
    """A text in which Markdown and HTML find no markup, on one line."""
    safe = escape(printable(value), quote=False)
    return "".join(f"\\{letter}" if letter in "\\`*_[]|~" else letter for letter in safe)


def _typeset(sentence: str) -> str:
    """A sentence of ours as HTML: names between backticks are code, and ``->`` is an arrow."""
    return _CODE.sub(r"<code>\1</code>", _safe(sentence)).replace("-&gt;", "→")


_CODE = re.compile("`([^`]*)`")


def _safe(value: str) -> str:
    return escape(printable(value))
