"""The worker process for imports, aggregations and the like: ``python -m tensorboard_plugin_dlprof.imports.worker``.

It reads a job, one line of JSON, from standard input. It writes lines of JSON to standard output: progress, and at the
end the result or the error. It ends when standard input is closed, so it does not outlive the server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX, RANK_SUFFIX
from tensorboard_plugin_dlprof.opening.allowance import limit_whole_process
from tensorboard_plugin_dlprof.opening.one_job import run_and_end

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.pipeline import ImportOptions

PROGRESS_SECONDS = 0.1
_LEAST_ROOM = 1 << 20
"""Bytes; more than any library asks for at once while it is loaded."""
EXIT_FAILED = 3
EXIT_ORPHANED = 4


Progress = Callable[[str, float], None]
Does = Mapping[str, Callable[[dict[str, Any], Progress], dict[str, Any]]]
"""What does the jobs of each kind; returns the result."""


def main(does: Does) -> int:
    """Do the job from standard input; returns the exit code."""
    line = sys.stdin.readline()
    if not line:
        return EXIT_ORPHANED
    job = json.loads(line)
    # Output of libraries must not be mixed with the messages for the server.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    _be_modest(job["memory_bytes"])
    limit_whole_process()
    try:
        _say(report, {"result": _do(does, job, report)})
    except _Failed as failed:
        _say(report, {"error": str(failed), "of_source": failed.of_source})
        return EXIT_FAILED
    return 0


class _Failed(Exception):
    """The job failed: the message for the user, and whether the source is the cause."""

    def __init__(self, sentence: str, of_source: bool = False) -> None:
        super().__init__(sentence)
        self.of_source = of_source


def _do(does: Does, job: dict[str, Any], report: Any) -> dict[str, Any]:
    # Imported here, so that the memory limit and the redirection of standard output are in effect.
    from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError, UnfitDatabase, UnknownFormat, reason_of

    last = 0.0

    def progress(stage: str, fraction: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PROGRESS_SECONDS or fraction >= 1:
            last = now
            _say(report, {"stage": stage, "fraction": round(min(max(fraction, 0.0), 1.0), 4)})

    what = {"import": "import", "export": "export", "ranks": "comparison of ranks"}.get(job["kind"], "aggregation")
    try:
        return does[job["kind"]](job, progress)
    except ProfileError as error:
        raise _Failed(str(error), isinstance(error, (BrokenSource, UnfitDatabase, UnknownFormat))) from error
    except Exception as error:
        if isinstance(error, MemoryError) or _is_out_of_memory():
            raise _Failed(
                f"The {what} needs more than the {job['memory_bytes'] / (1 << 30):.2g} GB of memory that it may use; "
                "profile fewer steps, or raise --dlprof_memory_limit."
            ) from None
        if isinstance(error, OSError):
            raise _Failed(f"The {what} failed: {reason_of(error)}.") from error
        # A bug would occur again, so it is reported as an error and not as a crash, which would be tried again.
        traceback.print_exc()
        raise _Failed(f"The {what} failed through an error of the plugin; the log has the details.") from error


def _is_out_of_memory() -> bool:
    """Whether nothing can be allocated any more: then a library that cannot be loaded, say, fails with other errors."""
    try:
        bytearray(_LEAST_ROOM)
    except MemoryError:
        return True
    return False


def _options(job: dict[str, Any]) -> ImportOptions:
    from tensorboard_plugin_dlprof.classify.user_rules import parse_user_rules
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, ReadOptions

    rules = parse_user_rules(job["kernel_rules"].encode(), "kernel rules") if job["kernel_rules"] else ()
    return ImportOptions(kernel_rules=rules, read=ReadOptions(memory_bytes=job["memory_bytes"]))


def _import(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    from tensorboard_plugin_dlprof.pipeline import import_source

    result = import_source(_source(job), Path(job["database"]), _options(job), progress)
    _source(job)
    return {"warnings": result.warnings}


def _progress_of_rank(whole: Progress, number: int, count: int, _stage: str, fraction: float) -> None:
    whole(f"Reading rank {number + 1} of {count}", (number + fraction) / count)


def _compare_ranks(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Read what a job needs of each rank, and make the databases of the jobs, without ranks that cannot be read."""
    from tensorboard_plugin_dlprof.database.naming import database_of
    from tensorboard_plugin_dlprof.errors import ProfileError
    from tensorboard_plugin_dlprof.opening.regular_file import unmoved
    from tensorboard_plugin_dlprof.pipeline import import_ranks_of
    from tensorboard_plugin_dlprof.ranks.job_step import make_jobs

    folder, files, errors = Path(job["folder"]), job["files"], []
    for number, (real, place, is_database) in enumerate(files):
        database = folder / (place if is_database else database_of(Path(place)))
        database.parent.mkdir(parents=True, exist_ok=True)
        part = partial(_progress_of_rank, progress, number, len(files))
        try:
            file = unmoved(Path(real), Path(real))
            if is_database:
                database.symlink_to(file)
            else:
                target = database.with_name(database.name.removesuffix(DATABASE_SUFFIX) + RANK_SUFFIX)
                import_ranks_of(file, target, _options(job), part)
        except ProfileError as error:
            errors.append(error)
    if len(errors) == len(files):
        raise errors[0]
    progress("Comparing the ranks", 1.0)
    made, _ = make_jobs(folder)
    return {"databases": [os.fspath(each.database.relative_to(folder)) for each in made]}


def _aggregate(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database

    selection = Selection(job["key_op"], job["iter_start"], job["iter_stop"], job["candidate"])
    result = aggregate_database(_source(job), Path(job["database"]), selection, progress)
    return {"aggregation": result.aggregation, "is_new": result.is_new}


def _delete(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    from tensorboard_plugin_dlprof.database.adding import leave_out_aggregation

    target, stage = Path(job["database"]), "Writing the database"
    leave_out_aggregation(_source(job), target, job["aggregation"], lambda fraction: progress(stage, fraction))
    return {"aggregation": job["aggregation"], "is_new": True}


def _diagnose(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source

    iterations = "typical" if job["positions"] is None else (job["positions"][0], job["positions"][1])
    return diagnose_source(_source(job), iterations, ImportOptions(), progress)


def _carry_over(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    from tensorboard_plugin_dlprof.pipeline import import_dlprof_database

    import_dlprof_database(_source(job), Path(job["database"]), progress)
    return {}


_DOES: Does = {
    "import": _import,
    "ranks": _compare_ranks,
    "aggregate": _aggregate,
    "delete": _delete,
    "diagnose": _diagnose,
    "carry_over": _carry_over,
}


def _source(job: dict[str, Any]) -> Path:
    """The job's source, after a check that it was not replaced by a link since the server checked it, or while it was
    read."""
    from tensorboard_plugin_dlprof.opening.regular_file import unmoved

    source = Path(job["source"])
    return unmoved(source, source)


def _say(report: Any, message: dict[str, Any]) -> None:
    report.write(json.dumps(message) + "\n")
    report.flush()


def _end_with_the_server() -> None:
    while os.read(0, 4_096):
        pass
    os._exit(EXIT_ORPHANED)


def _be_modest(memory_bytes: int) -> None:
    """Limit the memory, and lower the priority in favour of the server and other users."""
    if hasattr(os, "nice"):
        os.nice(10)
    try:
        import resource
    except ImportError:  # Windows has no such limits.
        return
    # On Linux, DATA counts private writable memory only; AS would also count every mapped library and file.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    limit = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(kind, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(run_and_end(partial(main, _DOES)))
