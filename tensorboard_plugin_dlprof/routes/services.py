"""Assembles the services behind the routes: from TensorBoard's context, or for a server of our own."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.classify.load_rules import content_of, digest_of, load_rules
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.imports.cache import DEFAULT_MAX_BYTES, Cache
from tensorboard_plugin_dlprof.imports.manager import GIGABYTE, ImportManager
from tensorboard_plugin_dlprof.imports.rank_jobs import RankJobManager
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager
from tensorboard_plugin_dlprof.routes.app import PERFETTO, Services
from tensorboard_plugin_dlprof.routes.hosts import Hosts, allowed_hosts, is_loopback
from tensorboard_plugin_dlprof.routes.profiles import Opened
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.hints import HintReader, hint_reader
from tensorboard_plugin_dlprof.runs.scan import File, Root
from tensorboard_plugin_dlprof.storage.store import Store

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.classify.rules.rule import Rule

_LOG = logging.getLogger(__name__)

MIN_MEMORY_BYTES = GIGABYTE // 4
"""Lower limit of the memory for an import. The libraries alone take half of this."""

_MOST_GB = 1e6
"""Upper limit of sizes in flags, because infinity cannot be converted to bytes."""

RELOAD_SECONDS = 5.0
"""TensorBoard's default of ``--reload_interval``."""

_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://.*")


def make_services(
    roots: Sequence[Root],
    allowed: Sequence[Path] = (),
    read_hints: HintReader = list,
    cache_folder: Path | None = None,
    import_mode: str = "auto",
    memory_bytes: int | None = None,
    cache_bytes: int = DEFAULT_MAX_BYTES,
    reaggregate_mode: str = "on",
    opened: Opened | None = None,
    hosts: Hosts | None = None,
    kernel_rules: tuple[Rule, ...] | None = None,
    perfetto: str = "",
) -> Services:
    """Assemble the services for profiles below ``roots``.

    Args:
        allowed: Folders outside of them into which symbolic links may lead.
        read_hints: Returns hints where profiles are, such as TensorBoard's runs.
        cache_folder: Folder of databases that are made on demand; by default the user's cache folder.
        import_mode: ``auto`` or ``off``: whether traces are imported when they are opened.
        memory_bytes: Memory limit of an import; by default half of the machine's memory, at most 8 GB.
        cache_bytes: Size limit of the cache.
        reaggregate_mode: ``on`` or ``off``: whether users may aggregate other iterations.
        opened: The file or folder that the command line of ``dlprofviewer`` names.
        hosts: The host names that requests may use.
        kernel_rules: The user's kernel rules; None reads those of the environment variable.
        perfetto: Address of a Perfetto, ``off``, or empty for the public one.

    Raises:
        ProfileError: ``kernel_rules`` is None, and the file in the environment variable is invalid.
    """
    rules = load_rules("") if kernel_rules is None else kernel_rules
    cache = Cache(cache_folder, cache_bytes, digest_of(rules))

    def cached_database(source: File) -> Path | None:
        return cache.find(source.real, source.size_bytes, source.mtime_ns)

    catalog = Catalog(roots, allowed, read_hints, cached_database, imports=import_mode != "off")
    imports = ImportManager(cache, memory_bytes, catalog.rescan, content_of(rules))
    aggregations = ReaggregationManager(cache, imports.memory_bytes, imports.turn, finished=catalog.rescan)
    return Services(
        catalog,
        imports,
        aggregations,
        RankJobManager(cache, imports.memory_bytes, imports.turn, content_of(rules)),
        import_mode,
        reaggregate_mode,
        opened,
        hosts=hosts or Hosts(),
        perfetto=perfetto_of(perfetto),
    )


def services_of_tensorboard(context: Any) -> Services:
    """Assemble the services inside TensorBoard. A program that embeds TensorBoard may have no ``context.flags``."""
    flags = context.flags
    provider = context.data_provider
    cache_folder = getattr(flags, "dlprof_cache_dir", "") or ""
    memory_gb = min(getattr(flags, "dlprof_memory_limit", 0.0) or 0.0, _MOST_GB)
    cache_gb = min(getattr(flags, "dlprof_cache_limit", 0.0) or 0.0, _MOST_GB)
    return make_services(
        roots_of(context.logdir or "", getattr(flags, "logdir_spec", "") or "", _refresh_seconds(flags)),
        [_absolute(folder) for folder in (getattr(flags, "dlprof_allowed_dirs", "") or "").split(",") if folder],
        hint_reader(provider) if provider is not None else list,
        _absolute(cache_folder) if cache_folder else None,
        getattr(flags, "dlprof_import", "auto") or "auto",
        memory_of(memory_gb),
        int(cache_gb * GIGABYTE) if cache_gb > 0 else DEFAULT_MAX_BYTES,
        getattr(flags, "dlprof_reaggregate", "on") or "on",
        hosts=hosts_of_tensorboard(flags),
        kernel_rules=_rules(getattr(flags, "dlprof_kernel_rules", "") or ""),
        perfetto=getattr(flags, "dlprof_perfetto", "") or "",
    )


def _refresh_seconds(flags: Any) -> float:
    """How long a listing of the cloud is used: as long as TensorBoard uses its own; once only for 0 and less."""
    seconds = float(getattr(flags, "reload_interval", RELOAD_SECONDS) or 0.0)
    return max(seconds, RELOAD_SECONDS) if seconds > 0 else float("inf")


def perfetto_of(named: str) -> str | None:
    """The address of a flag; the public one if it is empty, None for ``off`` and for what is no address of a page."""
    if not named:
        return PERFETTO
    return named if re.fullmatch(r"https?://[^\s\"'<>]+", named) else None


def memory_of(gigabytes: float) -> int | None:
    """The bytes that one import may use; ``None``, the default, for 0."""
    return max(int(gigabytes * GIGABYTE), MIN_MEMORY_BYTES) if gigabytes > 0 else None


def _rules(named: str) -> tuple[Rule, ...]:
    """The kernel rules of the flag or the environment variable; none, with a warning, if they are invalid.

    The command ``tensorboard`` has checked them before, but a program that embeds TensorBoard has not.
    """
    try:
        return load_rules(named)
    except ProfileError as error:
        _LOG.warning("%s Kernels are classified by the plugin's own rules only.", error)
        return ()


def hosts_of_tensorboard(flags: Any) -> Hosts:
    """The host names that requests may use, by TensorBoard's flags; without flags, the address it listens on is unknown
    and treated as public."""
    is_local = (
        hasattr(flags, "host")
        and not getattr(flags, "bind_all", False)
        and is_loopback(str(flags.host or "localhost").lower())
    )
    return allowed_hosts(is_local, getattr(flags, "dlprof_allowed_hosts", "") or "", "--dlprof_allowed_hosts")


def roots_of(logdir: str, logdir_spec: str, refresh_seconds: float = 0.0) -> list[Root]:
    """The folders and places in the cloud of ``--logdir`` or ``--logdir_spec``, with TensorBoard's names for them.

    The names follow TensorBoard's ``_parse_event_files_spec``: in ``name:path,path2``, a Windows drive is not a name,
    a path that starts with a slash has none, and neither has an address.

    Args:
        logdir: Value of ``--logdir``.
        logdir_spec: Value of ``--logdir_spec``, which counts if there is no ``logdir``.
        refresh_seconds: How long a listing of a place in the cloud is used.
    """
    if logdir:
        return [_root(logdir, "", refresh_seconds)]
    roots = []
    for part in filter(None, logdir_spec.split(",")):
        name, colon, path = part.partition(":")
        is_named = bool(colon) and not part.startswith("/") and not os.path.splitdrive(part)[0] and not _URI.match(part)
        roots.append(_root(path, name, refresh_seconds) if is_named else _root(part, "", refresh_seconds))
    return roots


def _root(place: str, name: str, refresh_seconds: float) -> Root:
    if place.startswith("file://"):
        place = place.removeprefix("file://")
    elif _URI.match(place):
        return Root(Path(place), name, store=Store(place, refresh_seconds))
    return Root(_absolute(place), name)


def _absolute(path: str) -> Path:
    """The absolute path of a folder in a flag, because TensorBoard's process may change its working directory later."""
    return Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - as TensorBoard does
