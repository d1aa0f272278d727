"""Puts the server's parts together: from TensorBoard's context, or for a server of our own."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.classify.chosen_rules import chosen_rules, content_of, digest_of
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.imports.cache import DEFAULT_MAX_BYTES, Cache
from tensorboard_plugin_dlprof.imports.manager import GIGABYTE, ImportManager
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager
from tensorboard_plugin_dlprof.masking import mask_command_line
from tensorboard_plugin_dlprof.routes.app import Services
from tensorboard_plugin_dlprof.routes.hosts import Hosts, allowed_hosts, is_loopback
from tensorboard_plugin_dlprof.routes.opened import Opened
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.hints import HintReader, hint_reader
from tensorboard_plugin_dlprof.runs.scan import File, Root

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.classify.rules.rule import Rule

_LOG = logging.getLogger(__name__)

MIN_MEMORY_BYTES = GIGABYTE // 4
"""The libraries alone take half of this."""

_MOST_GB = 1e6
"""Whatever a flag says; infinity is no size."""

_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://.*")
_REMOTE_PART = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://[^,]*")


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
    remote: Sequence[str] = (),
) -> Services:
    """What the routes work with, for profiles below ``roots``.

    Raises:
        ProfileError: no ``kernel_rules`` are given, and the file that the environment variable names is wrong.
    """
    rules = chosen_rules("") if kernel_rules is None else kernel_rules
    cache = Cache(cache_folder, cache_bytes, digest_of(rules))

    def cached_database(source: File) -> Path | None:
        return cache.find(source.real, source.size_bytes, source.mtime_ns)

    catalog = Catalog(roots, allowed, read_hints, cached_database)
    imports = ImportManager(cache, memory_bytes, lambda _profile: catalog.rescan(), content_of(rules))
    aggregations = ReaggregationManager(cache, imports.memory_bytes, imports.turn, finished=catalog.rescan)
    return Services(
        catalog,
        imports,
        aggregations,
        import_mode,
        reaggregate_mode,
        opened,
        hosts=hosts or Hosts(),
        remote=tuple(remote),
    )


def services_of_tensorboard(context: Any) -> Services:
    """What the routes work with inside TensorBoard. ``context.flags`` is missing where a program embeds TensorBoard."""
    flags = context.flags
    provider = context.data_provider
    cache_folder = getattr(flags, "dlprof_cache_dir", "") or ""
    memory_gb = min(getattr(flags, "dlprof_memory_limit", 0.0) or 0.0, _MOST_GB)
    cache_gb = min(getattr(flags, "dlprof_cache_limit", 0.0) or 0.0, _MOST_GB)
    return make_services(
        roots_of(context.logdir or "", getattr(flags, "logdir_spec", "") or ""),
        [_absolute(folder) for folder in (getattr(flags, "dlprof_allowed_dirs", "") or "").split(",") if folder],
        hint_reader(provider) if provider is not None else list,
        _absolute(cache_folder) if cache_folder else None,
        getattr(flags, "dlprof_import", "auto") or "auto",
        max(int(memory_gb * GIGABYTE), MIN_MEMORY_BYTES) if memory_gb > 0 else None,
        int(cache_gb * GIGABYTE) if cache_gb > 0 else DEFAULT_MAX_BYTES,
        getattr(flags, "dlprof_reaggregate", "on") or "on",
        hosts=hosts_of_tensorboard(flags),
        kernel_rules=_rules(getattr(flags, "dlprof_kernel_rules", "") or ""),
        remote=remote_roots(context.logdir or "", getattr(flags, "logdir_spec", "") or ""),
    )


def remote_roots(logdir: str, logdir_spec: str) -> list[str]:
    """The log directories of remote storage, which are not searched, without credentials."""
    parts = [logdir] if logdir else _REMOTE_PART.findall(logdir_spec)
    return [mask_command_line(part) for part in parts if _URI.match(part)]


def _rules(named: str) -> tuple[Rule, ...]:
    """Those of the flag or the variable. ``tensorboard`` has checked them; an embedded one goes on without."""
    try:
        return chosen_rules(named)
    except ProfileError as error:
        _LOG.warning("%s Kernels are told by the rules of the plugin alone.", error)
        return ()


def hosts_of_tensorboard(flags: Any) -> Hosts:
    """The names that TensorBoard answers to with these flags; where it listens on is unknown to a program without."""
    is_local = (
        hasattr(flags, "host")
        and not getattr(flags, "bind_all", False)
        and is_loopback(str(flags.host or "localhost").lower())
    )
    return allowed_hosts(is_local, getattr(flags, "dlprof_allowed_hosts", "") or "", "--dlprof_allowed_hosts")


def roots_of(logdir: str, logdir_spec: str) -> list[Root]:
    """The folders of ``--logdir`` or ``--logdir_spec`` with TensorBoard's names; remote ones cannot be searched.

    The names follow TensorBoard's ``_parse_event_files_spec``: ``name:path,path2``, where a Windows drive and a path
    that starts with a slash are no names.
    """
    if logdir:
        return [Root(_absolute(logdir))] if not _URI.match(logdir) else []
    roots = []
    for part in logdir_spec.split(","):
        if not part or _URI.match(part):
            continue
        name, colon, path = part.partition(":")
        is_named = bool(colon) and not part.startswith("/") and not os.path.splitdrive(part)[0]
        if is_named and not _URI.match(path):
            roots.append(Root(_absolute(path), name))
        elif not is_named:
            roots.append(Root(_absolute(part)))
    return roots


def _absolute(path: str) -> Path:
    """TensorBoard gives folders as they were typed, and its process may change its working directory later."""
    return Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - as TensorBoard does
