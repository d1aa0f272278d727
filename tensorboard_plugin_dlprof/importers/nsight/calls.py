"""Reads the host calls of an Nsight Systems export: those of the CUDA API, and those on files and sockets."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import Calls
from tensorboard_plugin_dlprof.importers.nsight.columns import Batches, possible
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Column, Export, Tally
from tensorboard_plugin_dlprof.importers.nsight.ids import Names, Threads

_API_TABLES = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER")
"""Current exports have both kinds of calls in the first table."""


def read_calls(export: Export, names: Names, threads: Threads, tally: Tally) -> Calls:
    """Calls of the CUDA runtime and driver."""
    return _calls(export, _API_TABLES, names, threads, tally, "CUDA calls", "")


# fmt: off
_TRANSFERS = (
    "accept", "accept4", "close", "connect", "copy_file_range", "creat", "creat64", "fclose", "fdatasync",
    "fflush", "fgetc", "fgets", "fopen", "fopen64", "fputc", "fputs", "fputs_unlocked", "fread", "fsync", "fwrite",
    "getline", "msync", "open", "open64", "openat", "openat64", "pread", "pread64", "preadv", "preadv64", "pwrite",
    "pwrite64", "pwritev", "pwritev64", "read", "readahead", "readv", "recv", "recvfrom", "recvmmsg", "recvmsg",
    "send", "sendfile", "sendfile64", "sendmmsg", "sendmsg", "sendto", "splice", "sync", "syncfs",
    "sync_file_range", "write", "writev",
)
# fmt: on
"""Calls that transfer data. Waiting (poll, futex), memory (mmap), devices (ioctl) and names (stat) do not."""

_MOST_IDS = 2_000
"""A limit for hostile files; each of these texts should have one id."""


def read_os_calls(export: Export, names: Names, threads: Threads, tally: Tally) -> Calls:
    """Calls that read or write files and sockets."""
    strings = export.table("StringIds")
    if strings is None:
        return empty(Calls)
    quoted = ", ".join(f"'{name}'" for name in _TRANSFERS)
    ids = export.con.execute(f'SELECT CAST(id AS INTEGER) FROM "{strings}" WHERE value IN ({quoted}) LIMIT {_MOST_IDS}')
    where = f"nameId IN ({', '.join(str(number) for (number,) in ids.fetchall() if number is not None)})"
    return _calls(export, ("OSRT_API",), names, threads, tally, "operating system calls", where)


def _calls(
    export: Export, bases: tuple[str, ...], names: Names, threads: Threads, tally: Tally, what: str, where: str
) -> Calls:
    batches = Batches(export.store)
    wanted = [Column("start", NO_TIME), Column("end", NO_TIME), Column("globalTid"), Column("nameId")]
    wanted.append(Column("correlationId"))
    tables = [export.table(base, needed=("start", "end", "globalTid", "nameId")) for base in bases]
    for table in filter(None, tables):
        for batch in export.batches(table, wanted, doing=f"reading {what}", where=where):
            start, end, global_tid, name, correlation = batch.integers
            usable, on_thread = possible(start, end), global_tid >= 0
            tally.add(f"{what} with impossible times", np.count_nonzero(~usable))
            tally.add(f"{what} without a thread", np.count_nonzero(usable & ~on_thread))
            rows = usable & on_thread
            batches.add(
                start_ns=start[rows],
                end_ns=end[rows],
                thread=threads.rows(global_tid[rows]),
                name=names.resolve(name[rows]),
                correlation=correlation[rows],
            )
    return batches.table(Calls)
