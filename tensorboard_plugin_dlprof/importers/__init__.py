"""Source formats: one module per format, which reads it into the neutral event tables.

The format of a file is found by its content, never by its name.
"""

from __future__ import annotations

import functools
from pathlib import Path

from tensorboard_plugin_dlprof.errors import UnknownFormat
from tensorboard_plugin_dlprof.importers.importer import Importer
from tensorboard_plugin_dlprof.importers.looks_like import looks_like
from tensorboard_plugin_dlprof.opening.byte_stream import read_head
from tensorboard_plugin_dlprof.opening.regular_file import shown


@functools.cache
def importers() -> tuple[Importer, ...]:
    """One of each importer, in the order in which they are asked. Imported here: listing profiles needs none."""
    from tensorboard_plugin_dlprof.importers.kineto import KinetoImporter
    from tensorboard_plugin_dlprof.importers.nsight_systems import NsightSystemsImporter

    return (NsightSystemsImporter(), KinetoImporter())


def find_importer(path: Path) -> Importer:
    """The importer that recognises the file.

    Raises:
        UnknownFormat: none does; the message says what the file looks like and what was tried.
        NotFound: there is no such file.
        UnsafeFile: not a regular file, or it may not be read.
    """
    head = read_head(path)
    for importer in importers():
        if importer.sniff(path, head):
            return importer
    tried = " and ".join(importer.title for importer in importers())
    raise UnknownFormat(f"{shown(path)} {looks_like(path, head)}. Formats tried: {tried}.")
