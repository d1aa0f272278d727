"""Write a trace that Perfetto and chrome://tracing open.

Without a window, the whole recording is written. Times are nanoseconds since its start, as everywhere in
DLProf's databases. A name that ends with .gz is compressed.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.databases import database_of
from tensorboard_plugin_dlprof.cli.iterations import METAVAR, parsed
from tensorboard_plugin_dlprof.cli.messages import tell
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.errors import OutputExists, OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.opening.option_values import named_path
from tensorboard_plugin_dlprof.opening.outputs import refuse_special


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, Nsight export or DLProf database"
    )
    parser.add_argument("--iterations", metavar=METAVAR, default="", help="write these iterations, such as 2-5")
    parser.add_argument("--iteration", metavar="N", dest="iterations", help="the same, of one iteration")
    parser.add_argument("--from", metavar="NS", type=int, dest="start_ns", help="start of the window, in nanoseconds")
    parser.add_argument("--to", metavar="NS", type=int, dest="stop_ns", help="end of the window, in nanoseconds")
    parser.add_argument("-o", "--output", metavar="FILE", type=named_path, required=True, help="the trace to write")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(arguments: argparse.Namespace) -> int:
    """Write the trace, and print its path."""
    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.exports.trace_events import Window, iteration_window, trace_chunks, typical_window

    start, stop = arguments.start_ns, arguments.stop_ns
    if (start is None) != (stop is None):
        raise WrongUsage("--from and --to belong together; give both.")
    if start is not None and (arguments.iterations or stop <= start):
        raise WrongUsage("--from NS --to NS is a window by itself, and --to must be later than --from.")
    wanted = parsed(arguments.iterations or "all")
    if arguments.output.exists() and not arguments.force:
        raise OutputExists(f"{arguments.output} exists; name another file, or add --force.")
    with database_of(arguments.profile) as database, opened_database(database, str(arguments.profile)) as connection:
        window = None if start is None else Window(start, stop)
        if not isinstance(wanted, str):
            window = iteration_window(connection, *wanted)
        elif wanted == "typical":
            window = typical_window(connection)
        with _written(arguments.output) as file:
            for chunk in trace_chunks(connection, window):
                file.write(chunk)
    tell(str(arguments.output))
    return exit_codes.SUCCESS


@contextmanager
def _written(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when it is complete."""
    refuse_special(path)
    try:
        with TemporaryDirectory(prefix=".dlprof-", dir=path.parent) as folder:
            made = Path(folder, "trace.json")
            with made.open("wb") as file:
                if path.name.endswith(".gz"):
                    with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=3, mtime=0) as packed:
                        yield packed  # type: ignore[misc]
                else:
                    yield file
            made.replace(path)
    except OSError as error:
        raise OutputNotWritable(f"{path} cannot be written: {reason_of(error)}; choose another folder.") from None
