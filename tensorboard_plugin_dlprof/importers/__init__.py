"""Source formats: one folder per format, which reads it into the neutral event tables.

The format of a file is recognised by its content, never by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tensorboard_plugin_dlprof.errors import NotFound, UnknownFormat, UnsafeFile
from tensorboard_plugin_dlprof.importers.importer import Importer
from tensorboard_plugin_dlprof.opening.byte_stream import read_head
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.sqlite_header import MAGIC

_VIEW = b'{"displayTimeUnit":"ns",'
_OF_XPLANE = (b'"highres-ticks":true', b'{"name":"/host:', b'{"name":"/device:')
"""How the traces begin that JAX makes of an XPlane profile, for its viewer and for Perfetto, and of what one is in the
head, all without spaces. They lack most of what is in the profile."""


_FORMATS = {
    "KinetoImporter": ("kineto", b"{"),
    "NsightSystemsImporter": ("nsight", MAGIC),
    "XPlaneImporter": ("xplane", b"\n"),
    "MemorySnapshotImporter": ("memory_snapshot", b"\x80"),
    "MemoryTimelineImporter": ("memory_snapshot", b"[["),
}
"""Importer -> its module, and how most files of the format begin."""


@functools.cache
def _importer(name: str) -> Importer:
    """One of ``_FORMATS``. Its module is loaded when it is requested, since listing profiles needs few of them."""
    importer: Importer = getattr(import_module(f"{__name__}.{_FORMATS[name][0]}"), name)()
    return importer


def importers(head: bytes = b"") -> Iterator[Importer]:
    """One instance of each importer, starting with the most likely for a file that begins with ``head``."""
    text = head.lstrip()  # a trace may begin with the sign of XPlane, a line break
    start = text if text[:1] in (b"{", b"[") else head
    first = next((name for name, (_, sign) in _FORMATS.items() if start.startswith(sign)), "KinetoImporter")
    yield from map(_importer, dict.fromkeys((first, *_FORMATS)))


def find_importer(path: Path) -> Importer:
    """The importer that recognises the file.

    Raises:
        UnknownFormat: none does; the message says what the file looks like and what was tried.
        NotFound: there is no such file.
        UnsafeFile: not a regular file, or it may not be read.
    """
    head = read_head(path)
    if _is_view(head):
        raise UnknownFormat(f"{shown(path)} is JAX's view of the XPlane profile beside it; name that (*.xplane.pb).")
    for importer in importers(head):
        if importer.sniff(path, head):
            return importer
    from tensorboard_plugin_dlprof.importers.wrong_file_hints import looks_like

    tried = ", ".join(importer.title for importer in importers(MAGIC))
    raise UnknownFormat(f"{shown(path)} {looks_like(path, head)}. Formats tried: {tried}.")


def _is_view(head: bytes) -> bool:
    packed = b"".join(head[:1_000].split())
    return packed.startswith(_VIEW) and any(sign in packed for sign in _OF_XPLANE)


def is_source(path: Path) -> bool:
    """Whether an importer recognises the file; False if it is gone or may not be read."""
    try:
        find_importer(path)
    except (UnknownFormat, UnsafeFile, NotFound):
        return False
    return True
