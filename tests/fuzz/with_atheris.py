"""Coverage-guided fuzzing of the parsers: ``python -m tests.fuzz.with_atheris PARSER FOLDER [LIBFUZZER_OPTION...]``.

Atheris is optional (``pip install atheris``); ``make fuzz`` runs every parser for some minutes. The folder keeps the
inputs that were found, and starts with our own samples.
"""

from __future__ import annotations

import gzip
import importlib
import io
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType

import atheris

import tensorboard_plugin_dlprof

with atheris.instrument_imports(include=["tensorboard_plugin_dlprof"]):
    # Importers and more are imported where they are used first, which is too late to be instrumented.
    for module in pkgutil.walk_packages(tensorboard_plugin_dlprof.__path__, "tensorboard_plugin_dlprof."):
        if module.name.split(".")[1] in ("database", "importers", "opening"):
            importlib.import_module(module.name)
    from tensorboard_plugin_dlprof.database.connection import is_dlprof_database, open_database
    from tensorboard_plugin_dlprof.errors import ProfileError
    from tensorboard_plugin_dlprof.importers import find_importer
    from tensorboard_plugin_dlprof.importers.importer import ReadOptions
    from tensorboard_plugin_dlprof.opening import sqlite_header
    from tensorboard_plugin_dlprof.opening.byte_stream import read_head
    from tensorboard_plugin_dlprof.opening.masking import mask_command_line

from tests.fuzz.seeds import SEEDS

MAX_INPUT_BYTES = 200_000
_FILE = Path(tempfile.mkdtemp(prefix="dlprof-fuzz-")) / "input"


def source(data: bytes) -> None:
    """Any source: what it is, and its events."""
    _FILE.write_bytes(data)
    with suppress(ProfileError):
        find_importer(_FILE).read(_FILE, ReadOptions(max_expanded_bytes=10 << 20), lambda _stage, _fraction: None)


def compressed(data: bytes) -> None:
    """The same, in gzip: as such it would not be found by chance."""
    source(gzip.compress(data, 1))


def database(data: bytes) -> None:
    """A database and its header."""
    with suppress(sqlite_header.BadHeader):
        sqlite_header.check(io.BytesIO(data), len(data))
    _FILE.write_bytes(data)
    is_dlprof_database(_FILE)
    with suppress(ProfileError), closing(open_database(_FILE)):
        pass


def small(data: bytes) -> None:
    """Heads and command lines."""
    _FILE.write_bytes(data)
    read_head(_FILE)
    mask_command_line(data.decode("utf-8", "surrogateescape"))


PARSERS: Mapping[str, tuple[Callable[[bytes], None], str]] = MappingProxyType(
    {
        "trace": (source, "trace"),
        "compressed": (compressed, "trace"),
        "nsight": (source, "nsight"),
        "xplane": (source, "xplane"),
        "snapshot": (source, "snapshot"),
        "database": (database, "dlprof"),
        "small": (small, "trace"),
    }
)
"""Name -> what is fuzzed, and the format of the inputs to start with."""


def main(name: str, folder: Path, options: list[str]) -> None:
    """Runs until libFuzzer's limits end it; an exception of ours ends it at once, with the input that raised it."""
    parser, kind = PARSERS[name]
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        SEEDS[kind](folder)
    atheris.Setup([sys.argv[0], str(folder), f"-max_len={MAX_INPUT_BYTES}", "-timeout=20", *options], parser)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
