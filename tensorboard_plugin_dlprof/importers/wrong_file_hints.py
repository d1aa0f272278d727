"""Guesses what a file is that no importer recognises, so that the message can say what to do about it."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.metadata import DATABASE_TABLES
from tensorboard_plugin_dlprof.opening.byte_stream import read_start
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted, reading, real_tables

_SQLITE = b"SQLite format 3\0"

_MEMBER_NAME_ENDS = 286
"""Where the name of the first file in a ZIP archive ends, if it is as long as file systems allow."""

_TAR_MARK, _TAR_MARK_AT = b"ustar", 257

_PICKLES = tuple(b"\x80" + bytes((protocol,)) for protocol in range(2, 6))

_EXECUTION_TRACE = re.compile(rb'\{\s*"schema"\s*:\s*"[^"]{1,40}".{0,400}?"nodes"\s*:', re.DOTALL)

_CREATED = re.compile(rb"CREATE\s+(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"'`\[]?([A-Za-z_]\w*)", re.IGNORECASE)

_EXPORT_A_TRACE = "export a trace with `export_chrome_trace`"

_NSIGHT_SYSTEMS = "is a report of Nsight Systems; convert it with `nsys export --type sqlite` first"

_NSIGHT_COMPUTE = (
    "is a report of Nsight Compute; write its counters with `ncu --csv --page raw`, and give them as --counters beside "
    "a profile"
)

_NSIGHT_TABLES = ("cupti_activity_kind_", "nvtx_events", "target_info_")

_MEMORY_TIMELINE = re.compile(rb"\[\s*\[\s*(?:\d{12,}|-1)\s*,")
"""Lists of times, microseconds or nanoseconds since 1970 with -1 for what existed before, and of sizes."""

_NSIGHT_EVENTS = (b'"TraceProcessEvent"', b'"CudaEvent"', b'"NvtxEvent"')

_OTHER_JSON: tuple[tuple[bytes, str], ...] = (
    (
        b'"rocprofiler-sdk-tool"',
        "is a profile of rocprofv3, which is not supported; record it with the PyTorch profiler",
    ),
    (b"speedscope.app/file-format-schema", "is a profile of a sampling profiler (speedscope); " + _EXPORT_A_TRACE),
)
"""Texts in the first bytes of JSON files of other tools -> what these files are."""

_STACK = re.compile(rb"[^;\n]+(?:;[^;\n]+)+ \d+\r?\n")
"""``caller;called 12``"""

_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"NVIDIA Tegra Profiler Report", _NSIGHT_SYSTEMS),
    (b"NVR\0", _NSIGHT_COMPUTE),
    (b'"ID","Process ID",', "holds counters of Nsight Compute; give it as --counters beside a profile"),
    (b"==PROF==", "holds counters of Nsight Compute; give it as --counters beside a profile"),
    (b"NVPROF", "is a profile of another tool"),
    (b"PK\x03\x04", "is a ZIP archive; unpack it and name the profile in it"),
    (b"BZh", "is compressed with bzip2; expand it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; expand it first"),
    (b"\xfd7zXZ", "is compressed with xz; expand it first"),
    (b"\xff\xfe", "is text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "is text in UTF-16; save it as UTF-8"),
    (b"version https://git-lfs", "is a pointer of Git LFS, not the profile itself; fetch it with `git lfs pull`"),
    (b"%PDF", "is a PDF document"),
    (b"\x89PNG", "is an image"),
    (b"<", "is HTML or XML, perhaps a web page in place of the download"),
)


def looks_like(path: Path, head: bytes) -> str:
    """A predicate about the file, such as ``is empty`` or ``is another SQLite database (ROCm rpd)``.

    Args:
        path: the file, whose name identifies some binary formats that have no signature.
        head: its first bytes, decompressed.
    """
    if not head:
        damaged = path.stat().st_size > 0
        if not damaged and path.name.endswith(".xplane.pb"):
            return "is empty: the profiler failed to save it (XLA writes none above 2 GB); profile fewer steps"
        return f"is {'damaged: its gzip data cannot be read' if damaged else 'empty'}; record or copy the profile again"
    if head.startswith(_SQLITE):
        return _database(path, head)
    if head.startswith(b"PK\x03\x04") and b"/data.pkl" in head[:_MEMBER_NAME_ENDS]:
        return f"is a checkpoint of PyTorch (torch.save), not a profile; {_EXPORT_A_TRACE}"
    for start, what in _STARTS:
        if head.startswith(start):
            return what
    if head[_TAR_MARK_AT:].startswith(_TAR_MARK):
        return "is a tar archive; unpack it and name the profile in it"
    if head.startswith(_PICKLES):
        return f"is a pickle, as PyTorch's memory snapshots are; {_EXPORT_A_TRACE}"
    name = path.name.lower()
    if name.endswith((".nsys-rep", ".qdrep")):
        return _NSIGHT_SYSTEMS
    if name.endswith(".ncu-rep"):
        return _NSIGHT_COMPUTE
    if name.startswith("events.out.tfevents"):
        return "is an event file of TensorBoard, not a profile"
    if name.endswith(".xplane.pb"):
        return "is named like an XPlane profile (JAX, TensorFlow), but does not begin like one; copy it again"
    return _text(head)


def _database(path: Path, head: bytes) -> str:
    if not read_start(path).startswith(_SQLITE):
        return "is a compressed SQLite database; expand it first"
    damage = ""
    try:
        with closing(open_untrusted(path)) as con, reading(con.shown_name):
            tables = {table.lower() for table in real_tables(con)}
    except (ProfileError, OSError) as error:
        # The first pages contain the statements that created the tables.
        tables = {name.decode("ascii", "replace").lower() for name in _CREATED.findall(head)}
        damage = str(error).removeprefix(f"{shown(path)} ").rstrip(".")
    if any(table.startswith("rocpd_") for table in tables):
        return "is a profile of ROCm (rpd), which is not supported; record it with the PyTorch profiler"
    if "db_version" in tables or any(table.startswith("read_only_") for table in tables):
        missing = [table for table in DATABASE_TABLES if table not in tables]
        if missing and not damage:
            return f"is a DLProf database without the table {missing[0]}; it is incomplete: make it again"
        return damage or "is a DLProf database: it needs no import, open it directly"
    if "stringtable" in tables and any(table.startswith("cupti_") for table in tables):
        return damage or "is a profile of nvprof, which is not supported; record it with Nsight Systems"
    if any(table.startswith(_NSIGHT_TABLES) for table in tables):
        return damage or "is a part of an export of Nsight Systems, without its texts (StringIds); export all tables"
    if damage or not tables:
        return damage or "is an SQLite database without tables"
    return f"is another SQLite database (it has the table {min(tables)})"


def _text(head: bytes) -> str:
    if b"\0" in head:
        return "is a binary file of an unknown kind"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if _EXECUTION_TRACE.match(text):
        return f"is an execution trace of PyTorch, which holds no GPU work; {_EXPORT_A_TRACE}"
    if _MEMORY_TIMELINE.match(text):
        return "is a memory timeline of PyTorch, already summed; export it as NAME.raw.json.gz"
    if text[:1] == b"{" and any(event in text for event in _NSIGHT_EVENTS):
        return "is a JSON export of Nsight Systems; export its report with `nsys export --type sqlite`"
    for mark, what in _OTHER_JSON:
        if text[:1] == b"{" and mark in text:
            return what
    if text[:1] in (b"{", b"["):
        return "is JSON, but holds no trace events"
    try:
        head[:-4].decode("utf-8")
    except UnicodeDecodeError:
        return "is a binary file of an unknown kind"
    if _STACK.match(text) or b"Self CPU" in text:
        return f"is a table or a list of stacks of PyTorch's profiler; {_EXPORT_A_TRACE}"
    return "is text, not a profile" if text else "is blank"
