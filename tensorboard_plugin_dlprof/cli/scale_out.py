"""Imports many profiles at once: each in a process of its own, on this machine or on the workers of Dask.

A profile that kills its process costs only itself. Results are put in place atomically and profiles that are up to date
are left alone, so running the same command again finishes what was interrupted.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say, tell
from tensorboard_plugin_dlprof.cli.sources import find_sources
from tensorboard_plugin_dlprof.database.naming import database_of
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, OutputNotWritable, ProfileError, reason_of
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX, RANK_SUFFIX

_LONGEST_OUTPUT = 16_000

_AGAIN = "run the command again to finish it."

_PATIENCE_S = 20
"""How long to wait for a scheduler to answer, and for its first worker."""


class Task(NamedTuple):
    """One profile to import, into a folder of results."""

    source: Path
    folder: Path


def common_folder(sources: Sequence[Path]) -> Path:
    """The deepest folder that all sources are below."""
    return Path(os.path.commonpath([os.path.abspath(source.parent) for source in sources]))  # noqa: PTH100  no links followed


def placed(sources: Sequence[Path], output: Path | None) -> list[Task]:
    """Where the results of each source go: beside it, or below ``output`` as it lies below what all have in common."""
    if output is None:
        return [Task(source, database_of(source).parent) for source in sources]
    root = common_folder(sources)
    return [Task(source, output / Path(os.path.abspath(source.parent)).relative_to(root)) for source in sources]  # noqa: PTH100


def shard_of(sources: Sequence[Path], shard: tuple[int, int] | None) -> list[Path]:
    """Every N-th source from the I-th on, in the order of their paths; all of them without a shard."""
    if shard is None:
        return list(sources)
    number, count = shard
    return sorted(sources)[number - 1 :: count]


def import_in_child(words: Sequence[str]) -> tuple[int, str, str]:
    """Run ``dlprof import`` with these words in a process of its own; returns its exit code and what it printed.

    It also runs in workers of Dask, so its result is plain.
    """
    package = os.fspath(Path(__file__).resolve().parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "tensorboard_plugin_dlprof", "import", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        check=False,
    )
    texts = (text.decode("utf-8", "replace")[-_LONGEST_OUTPUT:] for text in (ended.stdout, ended.stderr))
    return (ended.returncode, *texts)  # type: ignore[return-value]


def import_apart(
    tasks: Sequence[Task], words: Sequence[str], workers: int, dask: str = "", *, tells: bool = True
) -> int:
    """Import profiles in processes of their own and print what they print; returns how many succeeded.

    Args:
        words: further words of the command line, for all of them.
        workers: how many processes run at once on this machine.
        dask: address or scheduler file of a Dask cluster, whose workers start the processes instead.
        tells: whether results are printed too, not only messages.

    Raises:
        ProfileError: the cluster cannot be used.
    """
    # Workers of Dask have folders of their own in which they work.
    reported = os.path.abspath if dask else str
    commands = {task: [reported(task.source), "-o", reported(task.folder), *words] for task in tasks}
    ended = _on_cluster(commands, dask) if dask else _here(commands, workers)
    done = 0
    try:
        for task, (code, output, errors) in ended:
            for line in output.splitlines() if tells else ():
                tell(line)
            for line in errors.splitlines():
                say(line.removeprefix("dlprof: "))
            if code < 0:
                say(f"error: {task.source}: its import was ended by signal {-code}; {_AGAIN}")
            done += code == 0
    except _SchedulerLost:
        say(f"error: {dask}: the scheduler was lost after {done:,} of {len(tasks):,} profiles; {_AGAIN}")
    return done


class _SchedulerLost(Exception):
    """What was under way on the workers is finished there, or done again by the next run."""


_Results = Iterator[tuple[Task, tuple[int, str, str]]]


def _here(commands: dict[Task, list[str]], workers: int) -> _Results:
    with ThreadPoolExecutor(workers) as pool:
        waiting = {pool.submit(import_in_child, words): task for task, words in commands.items()}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _on_cluster(commands: dict[Task, list[str]], address: str) -> _Results:
    try:
        from dask.distributed import Client
        from dask.distributed import as_completed as completed
    except ImportError:
        raise BadRequest(
            "--dask needs dask.distributed; install it with pip install 'tensorboard_plugin_dlprof[dask]'."
        ) from None
    for name in filter(lambda name: name.startswith("distributed"), list(logging.root.manager.loggerDict)):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they tell a lost connection with tracebacks
    where = {"scheduler_file": address} if Path(address).is_file() else {"address": address}
    try:
        client: Any = Client(**where, timeout=_PATIENCE_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise NotFound(f"{address}: no scheduler of Dask answers there ({type(error).__name__}).") from None
    with client:
        _refuse_blind_workers(client, sorted({os.path.abspath(task.folder) for task in commands}))  # noqa: PTH100
        futures = {
            client.submit(import_in_child, words, pure=False, key=f"dlprof-{number}-{task.source.name}"): task
            for number, (task, words) in enumerate(commands.items())
        }
        for future in completed(list(futures)):
            task = futures[future]
            if future.status == "finished":
                yield task, future.result()
            elif future.status == "cancelled":
                raise _SchedulerLost
            else:
                yield task, (1, "", f"error: {task.source}: its worker was lost; {_AGAIN}")


def _refuse_blind_workers(client: Any, folders: Sequence[str]) -> None:
    """Refuse workers that do not see the folders of the results, or cannot write into them.

    A worker with another file system would write its results where nobody looks for them, so a file is shown to all.

    Raises:
        OutputNotWritable: such a worker exists, or there is none at all, or this machine cannot write there.
    """
    from tempfile import NamedTemporaryFile

    try:
        for folder in folders:
            Path(folder).mkdir(parents=True, exist_ok=True)
        shown = NamedTemporaryFile(prefix=".dlprof-", dir=folders[0])  # noqa: SIM115  closed below
    except OSError as error:
        raise OutputNotWritable(f"{folders[0]}: results cannot be written there ({reason_of(error)}).") from None
    with shown:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE_S)
            result = client.run(_not_shared, shown.name, folders)
        except TimeoutError:
            raise OutputNotWritable("The cluster has no workers; start some.") from None
        except OSError:
            raise _SchedulerLost from None
    for worker, folder in result.items():
        if folder:
            raise OutputNotWritable(f"The worker {worker} cannot write into {folder}; give it the same file system.")


def _not_shared(shown: str, folders: Iterable[str]) -> str:
    """The first folder that this machine does not share or cannot write into; empty if there is none."""
    if not Path(shown).is_file():
        return os.fspath(Path(shown).parent)
    return next((folder for folder in folders if not os.access(folder, os.W_OK)), "")


def rank_file(task: Task) -> Path:
    """The small database of a profile (``--depth job``)."""
    return task.folder / (database_of(task.source).name.removesuffix(DATABASE_SUFFIX) + RANK_SUFFIX)


def full_database(task: Task) -> Path:
    """The database with all of a profile."""
    return task.folder / database_of(task.source).name


def import_ranks(named: Sequence[Path], target: Path, rank_expression: str = "", workers: int = 1) -> Path:
    """Import what a job needs of some traces, or of all below some folders.

    Returns:
        The folder below ``target`` that the results are in, with the name of that of the traces.

    Raises:
        ProfileError: there is no trace, or none can be read.
    """
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, ReadOptions, import_ranks_of

    sources, errors = find_sources(list(map(str, named)))
    if errors:
        raise errors[0]
    root = Path(os.path.abspath(named[0])) if len(named) == 1 and named[0].is_dir() else common_folder(sources)  # noqa: PTH100
    into = target / (root.name or "job")
    tasks = [Task(source, into / Path(os.path.abspath(source.parent)).relative_to(root)) for source in sources]  # noqa: PTH100
    if workers > 1 and len(tasks) > 1:
        words = ["--shard=1/1", "--depth=job", *([f"--rank-regex={rank_expression}"] if rank_expression else [])]
        if not import_apart(tasks, words, workers, tells=False):
            raise BadRequest(f"{root}: none of the {len(tasks):,} profiles below this folder can be read.")
        return into
    options = ImportOptions(read=ReadOptions(rank_expression=rank_expression))
    done = 0
    failed: ProfileError | None = None
    for task in tasks:
        task.folder.mkdir(parents=True, exist_ok=True)
        try:
            with ProgressBar(task.source.name) as progress:
                import_ranks_of(task.source, rank_file(task), options, progress)
            done += 1
        except ProfileError as error:
            failed = error
            say(f"warning: {error}")
    if failed is not None and not done:
        raise failed
    return into
