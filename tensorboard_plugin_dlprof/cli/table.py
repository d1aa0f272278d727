"""Print a page of a table: ops, kernels, modules, gaps, iterations and the rest of what the pages show.

The tables, their columns, sorting and filters are those of the pages, and the JSON is that of their address ./table.
Times are in nanoseconds, shares from 0 to 1, and unknown values are null.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import aggregation_of
from tensorboard_plugin_dlprof.cli.iterations import add_iterations
from tensorboard_plugin_dlprof.cli.messages import tell, tell_json
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.opening.option_values import named_path

if TYPE_CHECKING:
    from sqlite3 import Connection

    from tensorboard_plugin_dlprof.queries.page_answer import TablePage
    from tensorboard_plugin_dlprof.queries.page_request import PageRequest
    from tensorboard_plugin_dlprof.queries.scope import Scope

NAMES = {"modules": "groups", "kernels": "kernels_of_group"}
"""Tables under the names of their pages."""

_OPTIONS = (
    *("offset", "limit", "sort", "search"),
    *("op", "group", "iteration", "row", "device", "start_ns", "stop_ns"),
)
_LONGEST_CELL = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, Nsight export or DLProf database"
    )
    parser.add_argument(
        "table",
        metavar="TABLE",
        help="ops, kernels, modules, op_types, iterations, gpus, efficiency, gaps, gap_groups, kernels_of_op, ...",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    parser.add_argument("--sort", metavar="COLUMN", default="", help="-COLUMN for descending order")
    parser.add_argument("--search", metavar="TEXT", default="", help="only rows that contain it")
    parser.add_argument(
        "--where",
        metavar="COLUMN=FILTER",
        action="append",
        default=[],
        help="only rows that pass, such as gpu_time_ns=>1ms; may be repeated",
    )
    parser.add_argument("--offset", metavar="N", type=_number, default=0, help="rows to skip (default: 0)")
    parser.add_argument(
        "--limit", metavar="N", type=_number, default=25, help="rows to print, at most 1000 (default: 25)"
    )
    parser.add_argument("--op", metavar="ID", help="whose kernels")
    parser.add_argument("--group", metavar="PATH", help="whose ops or kernels (default: of all ops)")
    parser.add_argument("--iteration", metavar="N", type=int, help="whose ops or kernels")
    parser.add_argument("--row", metavar="KEY", help="row of op_paths, op_names, op_types or kernels whose ops")
    parser.add_argument(
        "--from", dest="start_ns", metavar="NS", type=int, help="gaps, memory: start in ns of the recording"
    )
    parser.add_argument("--to", dest="stop_ns", metavar="NS", type=int, help="gaps, memory: end in ns of the recording")
    parser.add_argument("--device", metavar="N", type=int, help="gaps, memory: only those of this GPU")
    add_iterations(parser)
    parser.add_argument("--aggregation", metavar="N", type=int, help="which aggregation (default: the first)")


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Print the page on stdout."""
    from msgspec.structs import replace

    from tensorboard_plugin_dlprof.queries.page_request import PageRequest

    asked = PageRequest(
        table=arguments.table,
        where=dict(map(_filter, arguments.where)),
        **{name: getattr(arguments, name) for name in _OPTIONS},
    )
    with aggregation_of(arguments.profile, arguments.iterations, arguments.aggregation) as (database, aggregation):
        result = answer(database, str(arguments.profile), replace(asked, aggregation=aggregation))
    if arguments.format == "json":
        tell_json(result)
    else:
        for line in _lines(result):
            tell(line)
    return exit_codes.SUCCESS


def _filter(text: str) -> tuple[str, str]:
    column, equals, condition = text.partition("=")
    if not column or not equals:
        raise WrongUsage(f"--where {text}: give a column, = and a filter, such as gpu_time_ns=>1ms.")
    return column, condition


def answer(database: Path, name: str, asked: PageRequest) -> TablePage:
    """A page of a table of a database, as the address ``./table`` answers it.

    Args:
        database: From ``databases.aggregation_of``.

    Raises:
        NotFound: There is no such table or aggregation.
        BadRequest: A column, filter or link does not fit the table.
        ProfileError: The database cannot be read.
    """
    from msgspec.structs import replace

    from tensorboard_plugin_dlprof.queries.page_answer import page_of
    from tensorboard_plugin_dlprof.queries.page_request import FARTHEST, MAX_LIMIT
    from tensorboard_plugin_dlprof.queries.tables import table_of

    if not 0 <= asked.limit <= MAX_LIMIT:
        raise WrongUsage(f"--limit {asked.limit}: a page has at most {MAX_LIMIT:,} rows; use --offset for the next.")
    if not -FARTHEST <= (asked.iteration or 0) <= FARTHEST:
        raise WrongUsage(f"--iteration {asked.iteration}: no iteration has such a number.")
    table_name = NAMES.get(asked.table, asked.table)
    # Kernels are all there are, those without an op too, if it is not said of what.
    asked = replace(asked, table=table_name, group=asked.group or "")
    with _opened(database, name, asked) as (connection, rows, scope, request):
        return page_of(rows, table_of(connection, table_name), scope, request)


@contextmanager
def _opened(
    database: Path, name: str, asked: PageRequest
) -> Iterator[tuple[Connection, Connection, Scope, PageRequest]]:
    """The database, what holds the rows (for gaps, they are computed into memory), the scope, and the request with the
    window of gaps."""
    from msgspec.structs import replace

    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.database.memory import memory_database
    from tensorboard_plugin_dlprof.queries import gaps, memory_groups
    from tensorboard_plugin_dlprof.queries.scope import find_scope

    with ExitStack() as stack:
        opened = stack.enter_context(opened_database(database, name))
        scope = find_scope(opened, asked.aggregation)
        rows: Connection = opened
        if asked.table in gaps.TABLES:
            start, stop = _window(opened, asked)
            asked = replace(asked, start_ns=start, stop_ns=stop)
            rows = stack.enter_context(closing(memory_database(gaps.computed(opened, start, stop, asked.device))))
        elif asked.table in memory_groups.TABLES:
            alike = memory_groups.computed(opened, asked.device or 0, asked.start_ns, asked.stop_ns)
            rows = stack.enter_context(closing(memory_database(alike)))
        yield opened, rows, scope, asked


def _window(connection: Connection, asked: PageRequest) -> tuple[int, int]:
    """The window of the gaps: what is asked for, else all of the capture.

    Raises:
        WrongUsage: It ends before it starts.
    """
    from tensorboard_plugin_dlprof.queries.page_request import FARTHEST
    from tensorboard_plugin_dlprof.queries.tracks import all_tracks

    tracks = [track for track in all_tracks(connection) if track.items]
    first = min((track.first_ns for track in tracks), default=0)
    last = max((track.last_ns for track in tracks), default=1)
    start, stop = (
        whole if given is None else given
        for whole, given in zip((first, last), (asked.start_ns, asked.stop_ns), strict=True)
    )
    if not -FARTHEST <= start < stop <= FARTHEST:
        raise WrongUsage(
            f"--from {start} --to {stop}: the window is empty; the recording is from {first} to {last} ns."
        )
    return start, stop


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    """The columns that pages show without being asked, as text."""
    from tensorboard_plugin_dlprof.reports.as_text import aligned

    columns = [column for column in values["columns"] if not column["hidden"]]
    right = [column["type"] in ("integer", "number", "duration_ns", "fraction", "bytes") for column in columns]
    cells = [[column["key"] for column in columns]]
    cells += [[_cell(row[column["key"]]) for column in columns] for row in values["rows"]]
    yield from aligned(cells, right)
    last = values["offset"] + len(values["rows"])
    yield f"rows {min(values['offset'] + 1, last):,} to {last:,} of {values['filtered']:,}"
    if values["note"]:
        yield str(values["note"])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.4g}" if isinstance(value, float) else "; ".join(str(value).splitlines())
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"
