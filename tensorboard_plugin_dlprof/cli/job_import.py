"""``dlprof import`` of many ranks: in processes of their own, part by part, at two depths, and then their job."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tensorboard_plugin_dlprof.cli.importing import Job, exit_code, import_all
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say, say_bug, tell
from tensorboard_plugin_dlprof.cli.scale_out import (
    Task,
    common_folder,
    full_database,
    import_apart,
    placed,
    rank_file,
    shard_of,
)
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.opening.outputs import make_folder

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.pipeline import ImportOptions

_FULL_UP_TO = 64
"""Ranks up to which all of each is stored, if the user does not choose."""


def import_job(arguments: argparse.Namespace, sources: Sequence[Path], options: ImportOptions, failed: bool) -> int:
    """Import the sources and, with ``--job``, make their job; returns the exit code."""
    tasks = placed(sources, arguments.output)
    selected = set(shard_of(sources, arguments.shard))
    mine = [task for task in tasks if task.source in selected]
    depth = arguments.depth or ("job" if arguments.job and len(sources) > _FULL_UP_TO else "full")
    if arguments.dask or arguments.workers > 1:
        done = import_apart(mine, words_of_each(arguments, depth), arguments.workers, arguments.dask)
    else:
        # A process that imports many files one after the other reads each alone.
        options = msgspec.structs.replace(options, read=msgspec.structs.replace(options.read, workers=1))
        done = _import(mine, depth, arguments, options)
    code = exit_code(done, len(mine), failed)
    if not arguments.job or not done:
        return code
    if arguments.shard:
        tell("When all parts are imported, dlprof job DIR compares the ranks.")
        return code
    from tensorboard_plugin_dlprof.cli.job import make_jobs_in

    folder = arguments.output or common_folder([full_database(task) for task in tasks])
    result = make_jobs_in(folder, arguments.force)
    if depth == "job" and not arguments.depth:
        _import_what_stands_out(tasks, folder, arguments, options)
    return code or result


OF_ALL = {"command", "run", "sources", "output", "workers", "job", "depth", "shard", "dask"}
"""What is parsed that an import of one source does not get, or gets otherwise."""


def words_of_each(arguments: argparse.Namespace, depth: str) -> list[str]:
    """The words of the command line that hold for each source alone: of every option that is not one of the job."""
    words = ["--shard=1/1", f"--depth={depth}", "--workers=1"]
    for name, value in vars(arguments).items():
        is_given = value is not None and value is not False and value != ""
        if is_given and name not in OF_ALL:
            option = f"--{name.replace('_', '-')}"
            words.append(option if value is True else f"{option}={value}")
    return words


def _import(tasks: Sequence[Task], depth: str, arguments: argparse.Namespace, options: ImportOptions) -> int:
    """Import one source after the other; returns how many are there now."""
    if depth == "full":
        jobs = [Job(task.source, full_database(task), arguments.force) for task in tasks]
        return import_all(jobs, options, arguments.scalars, warns=False)
    from tensorboard_plugin_dlprof.database.rank_files import is_current_rank_file
    from tensorboard_plugin_dlprof.pipeline import import_ranks_of

    done = 0
    for task in tasks:
        target = rank_file(task)
        try:
            make_folder(task.folder)
            # The small database does not say by which expression it got its rank.
            anew = arguments.force or arguments.rank_regex
            if anew or not is_current_rank_file(target, task.source):
                with ProgressBar(task.source.name) as progress:
                    import_ranks_of(task.source, target, options, progress)
            done += 1
        except ProfileError as error:
            say(f"error: {error}")
            continue
        except MemoryError:
            say(f"error: {task.source}: there is not enough memory for this profile; record fewer iterations.")
            continue
        except Exception as error:  # noqa: BLE001  the other ranks must not pay for a bug of ours
            say_bug(str(task.source), error)
            continue
        tell(f"{task.source} -> {target}")
    return done


def _import_what_stands_out(
    tasks: Sequence[Task], folder: Path, arguments: argparse.Namespace, options: ImportOptions
) -> None:
    """Import all of rank 0 and of the ranks that the verdict names; the others when somebody opens them."""
    from tensorboard_plugin_dlprof.database.job_rows import opened_job
    from tensorboard_plugin_dlprof.queries import job as queries
    from tensorboard_plugin_dlprof.ranks.job_step import make_jobs

    made, _ = make_jobs(folder)
    by_target = {rank_file(task).resolve(): task for task in tasks}
    wanted = []
    for each in made:
        with opened_job(each.database) as con:
            verdict = queries.answer(con)["verdict"]
            named = {0, verdict["rank"], *(other["rank"] for other in verdict["runners_up"])}
            paths = [row["database"] for row in queries.ranks(con) if row["rank"] in named]
        result = (by_target.get((each.database.parent / path).resolve()) for path in paths)
        wanted += [task for task in result if task is not None]
    if _import(wanted, "full", arguments, options):
        make_jobs(folder)
