"""Source formats: one folder per format, which reads it into the neutral event tables.

The format of a file is recognised by its content, never by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from tensorboard_plugin_dlprof.errors import NotFound, UnknownFormat, UnsafeFile
from tensorboard_plugin_dlprof.importers.importer import Importer
from tensorboard_plugin_dlprof.opening.byte_stream import read_head
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.sqlite_header import MAGIC

_JAX_VIEW = b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":['
"""How the trace begins that JAX makes of an XPlane profile. It lacks most of what is in that."""


@functools.cache
def _nsight() -> Importer:
    from tensorboard_plugin_dlprof.importers.nsight import NsightSystemsImporter

    return NsightSystemsImporter()


@functools.cache
def _kineto() -> Importer:
    from tensorboard_plugin_dlprof.importers.kineto import KinetoImporter

    return KinetoImporter()


@functools.cache
def _snapshot() -> Importer:
    from tensorboard_plugin_dlprof.importers.memory_snapshot import MemorySnapshotImporter

    return MemorySnapshotImporter()


@functools.cache
def _xplane() -> Importer:
    from tensorboard_plugin_dlprof.importers.xplane import XPlaneImporter

    return XPlaneImporter()


@functools.cache
def _memory_timeline() -> Importer:
    from tensorboard_plugin_dlprof.importers.memory_timeline import MemoryTimelineImporter

    return MemoryTimelineImporter()


_SIGNS = ((b"[[", _memory_timeline), (MAGIC, _nsight), (b"\n", _xplane), (b"\x80", _snapshot))
"""How files of some formats begin."""


def importers(head: bytes = b"") -> Iterator[Importer]:
    """One instance of each importer, starting with the most likely for a file that begins with ``head``.

    Each module is loaded only when its importer is requested, since listing profiles needs none of them.
    """
    every = (_kineto, _nsight, _xplane, _snapshot, _memory_timeline)
    first = next((importer for sign, importer in _SIGNS if head.startswith(sign)), _kineto)
    if first is _xplane and head.lstrip()[:1] in (b"{", b"["):
        first = _kineto  # which may begin with the sign of XPlane, a line break
    yield from (importer() for importer in (first, *(other for other in every if other is not first)))


def find_importer(path: Path) -> Importer:
    """The importer that recognises the file.

    Raises:
        UnknownFormat: none does; the message says what the file looks like and what was tried.
        NotFound: there is no such file.
        UnsafeFile: not a regular file, or it may not be read.
    """
    head = read_head(path)
    if head.startswith(_JAX_VIEW):
        raise UnknownFormat(f"{shown(path)} is JAX's view of the XPlane profile beside it; name that (*.xplane.pb).")
    for importer in importers(head):
        if importer.sniff(path, head):
            return importer
    from tensorboard_plugin_dlprof.importers.wrong_file_hints import looks_like

    tried = ", ".join(importer.title for importer in importers(MAGIC))
    raise UnknownFormat(f"{shown(path)} {looks_like(path, head)}. Formats tried: {tried}.")


def is_source(path: Path) -> bool:
    """Whether an importer recognises the file; False if it is gone or may not be read."""
    try:
        find_importer(path)
    except (UnknownFormat, UnsafeFile, NotFound):
        return False
    return True
