"""A profile in a notebook: key figures, the parts of the wall time, and the ops with the most GPU time."""

from __future__ import annotations

import sqlite3
from html import escape

from tensorboard_plugin_dlprof.queries.ops import top_ops
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.system import gpu_names, matrix_unit
from tensorboard_plugin_dlprof.reports.dashboard import key_figures, resources
from tensorboard_plugin_dlprof.reports.html_style import mark_colours
from tensorboard_plugin_dlprof.reports.markup import duration, share

_CLASS = "dlprof-profile"
_TWICE = f".{_CLASS}.{_CLASS}"
_RULES = (
    f".{_CLASS} svg {{ width: 100%; max-width: 720px; height: 28px; display: block; }} "
    f".{_CLASS} svg.key {{ display: inline-block; width: 10px; height: 10px; margin-right: 6px; }} "
    # Notebooks align the cells of all tables to the right, by rules with two classes, which must be outweighed.
    f"{_TWICE} td, {_TWICE} th {{ text-align: left; }} {_TWICE} td.n, {_TWICE} th.n {{ text-align: right; }} "
    f".{_CLASS} h2 {{ font-size: 1.1em; }}"
)


def notebook_html(connection: sqlite3.Connection, scope: Scope, name: str) -> str:
    """A self-contained piece of HTML without scripts, with the title ``name``."""
    unit = matrix_unit(connection)
    figures = "".join(
        f"<tr><th>{escape(figure)}</th><td>{escape(value)}</td><td>{escape(meaning)}</td></tr>"
        for figure, value, meaning in key_figures(connection, scope, unit)
    )
    ops = "".join(
        f"<tr><td>{escape(op['op_id'])}</td><td>{escape(op['name'])}</td>"
        f"<td class=n>{duration(op['gpu_time_ns'])}</td><td class=n>{share(op['gpu_time_fraction'])}</td></tr>"
        for op in top_ops(connection, scope, 5)
    )
    gpus = ", ".join(dict.fromkeys(gpu_names(connection))) or "no GPU"
    return (
        f'<div class="{_CLASS}"><style>{_RULES}\n{mark_colours(f".{_CLASS}")}</style>'
        f"<strong>{escape(name)}</strong> ({escape(gpus)})<table>{figures}</table>"
        f"{resources(connection, scope, unit)}"
        "<h2>Top ops by GPU time</h2><table>"
        "<tr><th>Op</th><th>Name</th><th class=n>GPU time</th><th class=n>Share</th></tr>"
        f"{ops}</table>"
        "</div>"
    )
