"""Opens a profile by its path: a database directly, a source after an import, or the only profile of a folder."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from tensorboard_plugin_dlprof.api.profile import Profile
from tensorboard_plugin_dlprof.classify.load_rules import digest_of, load_rules
from tensorboard_plugin_dlprof.database.connection import is_foreign
from tensorboard_plugin_dlprof.database.naming import database_name, is_candidate_name, is_database_name
from tensorboard_plugin_dlprof.database.up_to_date import database_at_hand
from tensorboard_plugin_dlprof.errors import (
    BadRequest,
    NotFound,
    OutputNotWritable,
    UnfitDatabase,
    UnsafeFile,
    reason_of,
)
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.opening.regular_file import is_remote
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder
from tensorboard_plugin_dlprof.storage.store import Store


def open_profile(path: str | os.PathLike[str], *, aggregation: int | None = None) -> Profile:
    """Open a profile.

    Args:
        path: A DLProf database (ours, or NVIDIA's of 1.3 to 1.8); a PyTorch trace, an SQLite export of Nsight
            Systems or an XPlane profile, which is imported into your cache folder unless its database exists there or
            next to it; or a folder with exactly one of these. It may be an address in the cloud, such as
            ``s3://bucket/run/trace.json.gz``.
        aggregation: Id of the aggregation; by default the first one.

    Raises:
        ProfileError: The profile cannot be opened; the message says why and what to do.
    """
    if isinstance(path, str):
        path = path.removeprefix("file://")
    result = Path(os.path.expanduser(path))  # noqa: PTH111 (takes bytes and PathLike too)
    if result.is_dir():
        result = _only_profile(result)
    with ExitStack() as cleanup:
        if is_remote(str(path)) and not result.exists():
            database = _at(str(path).rstrip("/"), cleanup)
        else:
            database = database_at_hand(result) or _imported(result, cleanup)
        if is_foreign(database):
            with suppress(UnfitDatabase):  # then what DLProf's tables say is read
                database = _imported(database, cleanup)
        return Profile(database, aggregation, cleanup.pop_all(), result)


def _only_profile(folder: Path) -> Path:
    """The only profile of a folder. A source and the database made from it are one profile."""
    from tensorboard_plugin_dlprof.importers import is_source

    try:
        files = sorted(path for path in folder.iterdir() if is_candidate_name(path.name) and path.is_file())
    except OSError as error:
        raise UnsafeFile(f"{folder}: the folder cannot be read: {reason_of(error)}; check its permissions.") from None
    databases = [path for path in files if is_database_name(path.name)]
    sources = [path for path in files if not is_database_name(path.name) and is_source(path)]
    made = {database_name(source.name) for source in sources}
    profiles = sources + [database for database in databases if database.name not in made]
    if not profiles:
        raise NotFound(f"{folder}: there is no profile in this folder; name a database or what a profiler wrote.")
    if len(profiles) > 1:
        names = ", ".join(path.name for path in profiles[:10])
        raise BadRequest(f"{folder}: there are {len(profiles)} profiles in this folder; open one of {names}.")
    return profiles[0]


def _imported(source: Path, cleanup: ExitStack, identity: tuple[Path, int, int] | None = None) -> Path:
    """The imported database: in the cache that TensorBoard uses too, or in a temporary folder if the cache cannot be
    written to.

    Args:
        source: The file.
        cleanup: Deletes the temporary folder.
        identity: By which the cache knows the source: path, size and time of change; by default those of the file.
    """
    from tensorboard_plugin_dlprof.importers import find_importer
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    if not is_foreign(source):
        find_importer(source)  # Fails before any folder is created if the file is not a source.
    rules = load_rules("")
    options = ImportOptions(kernel_rules=rules)
    cache, status = Cache(rules_digest=digest_of(rules)), source.stat()
    target = cache.path(*(identity or (source.resolve(), status.st_size, status.st_mtime_ns)))
    if target.is_file():
        cache.touch(target)
        return target
    try:
        work = cache.make_work_folder()
    except OutputNotWritable:
        work = cleanup.enter_context(temporary_folder())
        return import_source(source, work / target.name, options, _silent).database
    try:
        made = import_source(source, work / target.name, options, _silent).database
        cache.publish(made, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _at(address: str, cleanup: ExitStack) -> Path:
    """The database of what is at an address, which is fetched unless the cache of TensorBoard has it."""
    store = Store(address)
    wanted = store.find("")
    if wanted is None:
        raise NotFound(f"{store.shown} does not exist; name a profile.")
    identity = (Path(address), wanted.size_bytes, wanted.number)
    known = Cache(rules_digest=digest_of(load_rules(""))).find(*identity)
    if known is not None:
        return known
    target = cleanup.enter_context(temporary_folder()) / address.rpartition("/")[2]
    store.fetch(wanted, target, _silent, sys.maxsize)
    return database_at_hand(target) or _imported(target, cleanup, identity)


def _silent(_stage: str, _fraction: float) -> None:
    """Ignores the progress: a notebook has its own indicator."""
