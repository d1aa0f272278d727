"""Say which rank of a job costs time, and why: many GPUs, one answer.

A folder holds the profiles of the ranks, or what dlprof import --job made of them. Where nothing was imported yet, and
where files are named, the traces are read and nothing is written beside them.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.cli.fail_on import EXIT_CODES, Kind, add_fail_on_values, exit_code_of_values
from tensorboard_plugin_dlprof.cli.import_profiles import add_rank_regex, add_workers
from tensorboard_plugin_dlprof.cli.iterations import METAVAR, parsed
from tensorboard_plugin_dlprof.cli.job import say_unusable
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say, tell_json
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.opening.option_values import named_path
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder
from tensorboard_plugin_dlprof.units import bandwidth, percentage, short_duration, size

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.ranks.job_step import Made

EPILOG = EXIT_CODES

_MOST_NAMED = 20

_KINDS: dict[str, Sequence[Kind]] = dict.fromkeys(
    ("own_delay", "exposed_wait", "exposed_communication"), ("fraction", "ns")
)

_CSV = (
    *("rank", "host", "gpu_name", "coordinates", "window_ns", "compute_ns", "exposed_communication_ns"),
    *("exposed_transfer_ns", "exposed_wait_ns", "exposed_unmatched_ns", "exposed_copy_ns", "idle_ns", "overlapped_ns"),
    *("own_delay_ns", "last", "clock_offset_ns"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    what = "folder of the job's profiles, or the traces of its ranks"
    parser.add_argument("profiles", metavar="DIR|SOURCE", type=named_path, nargs="+", help=what)
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text", help="default: text; csv: ranks")
    which = "numbers of ranks in these iterations (default: from the first to the last GPU work)"
    parser.add_argument("--iterations", metavar=METAVAR.removeprefix("typical|"), default="all", help=which)
    parser.add_argument("--iteration", metavar="N", dest="iterations", help="the same, of one iteration")
    parser.add_argument("--top", metavar="N", type=int, default=10, help="rows of each table in text (default: 10)")
    add_rank_regex(parser)
    add_workers(parser, "traces of so many ranks are read at once (default: 1)")
    add_fail_on_values(parser, _KINDS, "own_delay>5%")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer on stdout."""
    from tensorboard_plugin_dlprof.queries.job import measured

    selected = parsed(arguments.iterations)
    if selected == "typical":
        raise WrongUsage("--iterations typical: a job has no typical iterations; give all, or numbers such as 2-5.")
    bounds = None if isinstance(selected, str) else selected
    expression, workers = arguments.rank_regex, arguments.workers
    top, means = max(arguments.top, 0), arguments.format == "text"
    result = answers(arguments.profiles, bounds, top, means=means, rank_expression=expression, workers=workers)
    if arguments.format == "json":
        tell_json(whole(result))
    elif arguments.format == "csv":
        _write_csv(result)
    else:
        sys.stdout.write("\n".join(_text(each, arguments.top) for each in result))
    return exit_code_of_values(arguments, map(measured, result))


def answers(
    named: Sequence[Path],
    iterations: tuple[int, int] | None = None,
    top: int = 10,
    *,
    means: bool = False,
    keeps: bool = True,
    rank_expression: str = "",
    workers: int = 1,
) -> list[dict[str, Any]]:
    """What is known about each job below a folder, or about that of some traces.

    Args:
        named: The folder of the ranks' databases or traces, or traces.
        iterations: First and last of the iterations that the numbers of ranks are of; by default their whole time.
        top: Most rows of some tables.
        means: Whether the numbers of ranks are of a mean iteration, not sums.
        keeps: Whether the database of a job is put beside those of its ranks, so that the next answer is there at once.
        rank_expression: Where traces do not tell their rank: its first group is the rank in the path.
        workers: How many traces are read at once.

    Raises:
        ProfileError: There is no job, or none can be read.
    """
    from tensorboard_plugin_dlprof.database.job_rows import opened_job
    from tensorboard_plugin_dlprof.queries import job as queries

    result = []
    with _jobs(named, keeps, rank_expression, workers) as jobs:
        for made in jobs:
            for warning in made.warnings:
                say(f"warning: {warning}")
            with opened_job(made.database) as con:
                each = queries.distributed(con, iterations, top)
                result.append({**each, "ranks": queries.mean_ranks(con, iterations)} if means else each)
    return result


def whole(jobs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The JSON of the answers: that of the only job, or of several."""
    return jobs[0] if len(jobs) == 1 else {"jobs": list(jobs)}


@contextmanager
def _jobs(named: Sequence[Path], keeps: bool, rank_expression: str, workers: int) -> Iterator[Sequence[Made]]:
    """The jobs below a folder, made of their databases; where there are none, of the traces in a temporary folder."""
    folder = named[0]
    from tensorboard_plugin_dlprof.errors import OutputNotWritable
    from tensorboard_plugin_dlprof.ranks.job_step import make_jobs
    from tensorboard_plugin_dlprof.ranks.members import databases_below

    with temporary_folder() as temporary:
        if len(named) > 1 or not folder.is_dir() or not databases_below(folder):
            from tensorboard_plugin_dlprof.cli.scale_out import import_ranks

            folder = import_ranks(named, Path(temporary), rank_expression, workers)
        with ProgressBar(folder.name) as progress:
            try:
                made, unusable = make_jobs(folder, progress=progress, into=None if keeps else Path(temporary))
            except OutputNotWritable:
                made, unusable = make_jobs(folder, progress=progress, into=Path(temporary))
        say_unusable(unusable)
        yield made


def _write_csv(items: Sequence[Mapping[str, Any]]) -> None:
    from tensorboard_plugin_dlprof.queries.job import DIVIDED

    columns = (*_CSV, *(f"{part}_ns" for part in DIVIDED))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    jobs = ("job",) if len(items) > 1 else ()
    writer.writerow([*jobs, *columns])
    for each in items:
        for row in each["ranks"]:
            first = [each["job"]] if jobs else []
            writer.writerow(first + ["" if row[name] is None else row[name] for name in columns])


def _text(answer: Mapping[str, Any], top: int) -> str:
    lines = [f"{answer['job']}: {_present(answer)}", "", answer["verdict"]["sentence"]]
    is_rank = answer["knows_ranks"]
    for each in answer["verdict"]["runners_up"]:
        name = f"rank {each['rank']}" if is_rank else f"process {each['rank'] + 1}"
        share = percentage(each["cost_ns"] / answer["median_iteration_ns"])
        lines.append(f"  also {name}: about {_time(each['cost_ns'])} ({share})")
    lines += ["", f"Iteration {_time(answer['median_iteration_ns'])} (median). {answer['clocks']['sentence']}", ""]
    ranks = sorted(answer["ranks"], key=lambda row: -(row["own_delay_ns"] or 0))
    is_matched = any(row["exposed_wait_ns"] is not None for row in ranks)
    shown = {name: words for name, words in _PARTS.items() if words[1] is None or words[1] == is_matched}
    lines += _table(
        ("rank" if is_rank else "process", *(head for head, _ in shown.values())),
        [(str(row["rank"] + (not is_rank)), *(_time(row[name]) for name in shown)) for row in ranks[:top]],
    )
    if len(ranks) > top:
        lines.append(f"... and {len(ranks) - top:,} more ranks")
    lines.append("means per iteration" if answer["iterations"] else "from first to last GPU work")
    if is_matched:
        lines[-1] += "; own delay: what a rank itself took longer than its peers; wait: what others cost it"
    if answer["collectives"]:
        lines += ["", *_table(_COLLECTIVES, [_collective(row) for row in answer["collectives"][:top]])]
    wrong: dict[tuple[str, str], list[str]] = {}
    for group in answer["groups"]:
        if not group["believed"]:
            members = group["ranks"]
            members = f"ranks {members}" if isinstance(members, str) else f"{members:,} ranks"
            wrong.setdefault((group["name"], group["reason"]), []).append(members)
    if wrong:
        named = [(name, "; ".join(members[:top]), reason) for (name, reason), members in wrong.items()]
        lines += ["", *(f"Group {name} ({members}): {reason}" for name, members, reason in named[:top])]
    if answer["pairs"]:
        lines += ["", *_table(_PAIRS, [_pair(row, is_rank) for row in sorted(answer["pairs"], key=_slowest)[:top]])]
    lines += [line for text in answer["left_out_texts"] for line in ("", f"Left out: {text}")]
    others = [each for each in answer["findings"] if each["rule"] not in ("straggler", "slow_link", "stage_imbalance")]
    lines += [line for each in others for line in ("", f"{each['title']}: {each['text']} {each['action']}")]
    return "\n".join(lines) + "\n"


_PARTS: Mapping[str, tuple[str, bool | None]] = {
    "own_delay_ns": ("own delay", True),
    "exposed_wait_ns": ("wait", True),
    "exposed_transfer_ns": ("transfer", True),
    "exposed_communication_ns": ("communication", False),
    "compute_ns": ("compute", None),
    "exposed_copy_ns": ("copy", None),
    "idle_ns": ("idle", None),
}
"""Columns of ranks: their heads, and whether they are shown where operations of ranks are matched; None: always."""

_COLLECTIVES = ("group", "collective", "size", "ranks", "count", "transfer", "bus bandwidth", "wait")


def _collective(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        *(row["group_kind"] or "-", row["kind"], _size(row["bytes"]), str(row["ranks"]), f"{row['operations']:,}"),
        _time(row["transfer_median_ns"]),
        _rate(row["bus_bandwidth"]),
        _time(row["wait_ns"]),
    )


_PAIRS = ("from", "to", "sends", "bytes", "bandwidth", "")


def _slowest(row: Mapping[str, Any]) -> tuple[bool, float]:
    return row["bandwidth"] is None, row["bandwidth"] or 0.0


def _pair(row: Mapping[str, Any], is_rank: bool) -> tuple[str, ...]:
    return (
        *(str(row[name] + (not is_rank)) for name in ("source", "destination")),
        *(f"{row['operations']:,}", _size(row["bytes"])),
        _rate(row["bandwidth"]),
        "slow" if row["slow"] else "" if row["directed"] else "direction unknown",
    )


def _present(answer: Mapping[str, Any]) -> str:
    text = (
        f"{answer['ranks_present']:,} of {answer['world_size']:,} {'ranks' if answer['knows_ranks'] else 'processes'}"
    )
    if answer["missing"]["count"]:
        numbers = answer["missing"]["ranks"][:_MOST_NAMED]
        more = " and more" if answer["missing"]["count"] > len(numbers) else ""
        text += f"; missing {', '.join(map(str, numbers))}{more}"
    shape = " x ".join(f"{each['kind'].upper()} {each['size']}" for each in answer["dimensions"])
    return (
        text
        + (f", {shape}" if shape else "")
        + (f", {answer['iterations']:,} iteration{'s' if answer['iterations'] != 1 else ''}")
        + (f" after {len(answer['warm_up']):,} of warm-up" if answer["warm_up"] else "")
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    from tensorboard_plugin_dlprof.reports.as_text import aligned

    return list(aligned([head, *rows], [True] * len(head)))


def _time(time_ns: float | None) -> str:
    return "-" if time_ns is None else short_duration(time_ns)


def _size(num_bytes: int | None) -> str:
    return "-" if num_bytes is None else size(num_bytes)


def _rate(bytes_per_s: float | None) -> str:
    return "-" if bytes_per_s is None else bandwidth(bytes_per_s)
