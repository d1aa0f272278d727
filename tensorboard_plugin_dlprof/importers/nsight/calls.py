"""Reads the host calls of an Nsight Systems export: those of the CUDA API, and those on files and sockets."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.events.tables import Calls
from tensorboard_plugin_dlprof.importers.nsight.batches import possible
from tensorboard_plugin_dlprof.importers.nsight.export import Export
from tensorboard_plugin_dlprof.importers.nsight.ids import Names, Threads

_API_TABLES = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER")
"""Current exports have both kinds of calls in the first table."""


def read_calls(export: Export, names: Names, threads: Threads, tally: Counter[str]) -> Calls:
    """Calls of the CUDA runtime and driver."""
    return _calls(export, _API_TABLES, names, threads, tally, "CUDA calls", "")


# fmt: off
_TRANSFERS = (
    "accept", "accept4", "close", "connect", "copy_file_range", "creat", "creat64", "fclose", "fdatasync", "fflush",
    "fgetc", "fgetc_unlocked", "fgets", "fgets_unlocked", "fgetwc", "fgetws", "fopen", "fopen64", "fputc",
    "fputc_unlocked", "fputs", "fputs_unlocked", "fputwc", "fputws", "fread", "fread_unlocked", "fsync", "fwrite",
    "fwrite_unlocked", "getc", "getc_unlocked", "getchar", "getchar_unlocked", "getdelim", "getline", "gets", "getwc",
    "getwchar", "msync", "open", "open64", "openat", "openat64", "pread", "pread64", "preadv", "preadv64", "putc",
    "putc_unlocked", "putchar", "putchar_unlocked", "puts", "putwc", "putwchar", "pwrite", "pwrite64", "pwritev",
    "pwritev64", "read", "readahead", "readv", "recv", "recvfrom", "recvmmsg", "recvmsg", "send", "sendfile",
    "sendfile64", "sendmmsg", "sendmsg", "sendto", "splice", "sync", "sync_file_range", "syncfs", "write", "writev",
)
# fmt: on
"""Calls that transfer data. Waiting (poll, futex), memory (mmap), devices (ioctl) and names (stat) do not."""


def read_os_calls(export: Export, names: Names, threads: Threads, tally: Counter[str]) -> Calls:
    """Calls that read or write files and sockets."""
    quoted = ", ".join(f"'{name}'" for name in _TRANSFERS)
    where = f"nameId IN ({', '.join(map(str, names.matching(f'value IN ({quoted})')))})"
    return _calls(export, ("OSRT_API",), names, threads, tally, "operating system calls", where)


def _calls(
    export: Export, bases: tuple[str, ...], names: Names, threads: Threads, tally: Counter[str], what: str, where: str
) -> Calls:
    calls = GrowingTable(export.store)
    needed = ("start", "end", "globalTid", "nameId")
    for base in bases:
        wanted = (*needed, "correlationId")
        for batch in export.batches(base, wanted, needed=needed, doing=f"reading {what}", where=where):
            usable, on_thread = possible(batch["start"], batch["end"]), batch["globalTid"] >= 0
            tally[f"{what} with impossible times"] += np.count_nonzero(~usable)
            tally[f"{what} without a thread"] += np.count_nonzero(usable & ~on_thread)
            rows = batch.only(usable & on_thread)
            calls.add(
                start_ns=rows["start"],
                end_ns=rows["end"],
                thread=threads.rows(rows["globalTid"]),
                name=names.resolve(rows["nameId"]),
                correlation=rows["correlationId"],
            )
    return calls.table(Calls)
