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


_NAMES = ("kineto", "nsight", "xplane", "memory_snapshot", "memory_timeline")

_SIGNS = ((b"[[", "memory_timeline"), (MAGIC, "nsight"), (b"\n", "xplane"), (b"\x80", "memory_snapshot"))
"""How files of some formats begin."""


@functools.cache
def _importer(name: str) -> Importer:
    """One of ``_NAMES``. Its module is loaded when it is requested, since listing profiles needs few of them."""
    if name == "nsight":
        from tensorboard_plugin_dlprof.importers.nsight import NsightSystemsImporter

        return NsightSystemsImporter()
    if name == "xplane":
        from tensorboard_plugin_dlprof.importers.xplane import XPlaneImporter

        return XPlaneImporter()
    if name == "memory_snapshot":
        from tensorboard_plugin_dlprof.importers.memory_snapshot import MemorySnapshotImporter

        return MemorySnapshotImporter()
    if name == "memory_timeline":
        from tensorboard_plugin_dlprof.importers.memory_timeline import MemoryTimelineImporter

        return MemoryTimelineImporter()
    from tensorboard_plugin_dlprof.importers.kineto import KinetoImporter

    return KinetoImporter()


def importers(head: bytes = b"") -> Iterator[Importer]:
    """One instance of each importer, starting with the most likely for a file that begins with ``head``."""
    first = next((name for sign, name in _SIGNS if head.startswith(sign)), "kineto")
    if first == "xplane" and head.lstrip()[:1] in (b"{", b"["):
        first = "kineto"  # which may begin with the sign of XPlane, a line break
    yield from map(_importer, dict.fromkeys((first, *_NAMES)))


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
