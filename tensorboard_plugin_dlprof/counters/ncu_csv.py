"""Reads the CSV of Nsight Compute: ``ncu --csv --page raw -i report.ncu-rep > report.csv``, or the page ``details``.

The raw page has a column for each metric and a row of units below the header; the details page has a row for each
metric of each launch. Both may have lines of the tool (``==PROF==``) and of the program before the header.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

import msgspec

from tensorboard_plugin_dlprof.counters.metrics import is_wanted, scaled
from tensorboard_plugin_dlprof.counters.numbers import DecimalSign, number_of
from tensorboard_plugin_dlprof.errors import BrokenSource, UnknownFormat, no_file, reason_of

MAXIMUM_HEADER_LINES: Final = 100_000
"""The program's own output, which may be long, comes before that of Nsight Compute."""

_MAXIMUM_CELL: Final = 1 << 20
_MAXIMUM_LINE: Final = 1 << 24
"""Letters; the raw page of all metrics has some 100,000."""
_HOW: Final = "write it with `ncu --csv --page raw -i report.ncu-rep > report.csv`"
_MOST: Final = 1e18
_TRIPLE: Final = re.compile(r"\(?\s*(\d+)\s*[,x]\s*(\d+)\s*[,x]\s*(\d+)\s*\)?\Z")

Dimensions = tuple[int, int, int]


class Measured(msgspec.Struct):
    """One launch of a kernel under Nsight Compute."""

    name: str
    """Name as demangled by Nsight Compute."""
    grid: Dimensions | None
    block: Dimensions | None
    capability_major: int
    """0 if unknown."""
    values: dict[str, float] = msgspec.field(default_factory=dict)
    """Value of each metric; sizes are in bytes."""


class Report(msgspec.Struct):
    """The contents of a file of counters."""

    launches: list[Measured]
    """In the order of the program."""
    skipped_rows: int = 0
    """Number of rows that are truncated or belong to no launch."""


def read_counters(path: Path) -> Report:
    """The launches in a file.

    Raises:
        NotFound: there is no such file, or it is none.
        UnknownFormat: it is not a CSV of Nsight Compute.
        BrokenSource: it is one, but holds no launch.
    """
    if not path.is_file():
        raise no_file(path, "counters")
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            report = _read(csv.reader(_lines(file)), str(path))
    except OSError as error:
        raise BrokenSource(f"{path}: the counters cannot be read: {reason_of(error)}.") from None
    except csv.Error:
        raise UnknownFormat(f"{path} is not a CSV of Nsight Compute; {_HOW}.") from None
    if not report.launches:
        raise BrokenSource(f"{path}: the file holds no kernel launch; profile at least one kernel with Nsight Compute.")
    return report


def _lines(file: TextIO) -> Iterator[str]:
    """The lines, without zero bytes: Python's reader before 3.11 refuses them, and a binary report is full of them."""
    while line := file.readline(_MAXIMUM_LINE):
        if len(line) == _MAXIMUM_LINE:
            raise csv.Error
        yield line.replace("\0", "\ufffd")


class _Raw(msgspec.Struct):
    """A launch whose numbers are still text."""

    measured: Measured
    cells: dict[str, tuple[str, str]] = msgspec.field(default_factory=dict)
    """Metric -> value and unit."""


def _read(rows: Iterator[list[str]], shown: str) -> Report:
    header = _header(rows, shown)
    column = {name: place for place, name in reversed(list(enumerate(header)))}
    sign = DecimalSign()
    pages = _details if {"Metric Name", "Metric Value"} <= column.keys() else _raw
    report = Report([])
    launches = pages(rows, header, column, sign, report)
    for launch in launches:
        _finish(launch, sign.sign)
    report.launches = [launch.measured for launch in launches]
    return report


def _header(rows: Iterator[list[str]], shown: str) -> list[str]:
    for _, row in zip(range(MAXIMUM_HEADER_LINES), rows, strict=False):
        if "ID" in row and "Kernel Name" in row:
            return row
    raise UnknownFormat(f'{shown} is not a CSV of Nsight Compute: no line has "ID" and "Kernel Name"; {_HOW}.')


def _raw(
    rows: Iterator[list[str]], header: list[str], column: dict[str, int], sign: DecimalSign, report: Report
) -> list[_Raw]:
    wanted = [(place, name) for place, name in enumerate(header) if is_wanted(name)]
    # A capability has a point in every country.
    numbers = [place for place, name in enumerate(header) if "__" in name]
    units = dict.fromkeys(range(len(header)), "")
    launches: list[_Raw] = []
    for row in rows:
        if len(row) != len(header):
            report.skipped_rows += bool(row) and not row[0].startswith("==")
            continue
        if not row[column["ID"]].strip():
            # Below the header stand the units, and nowhere else.
            units = dict(enumerate(row))
            continue
        for place in numbers:
            sign.see(row[place].strip())
        launch = _Raw(_measured(row, column))
        launch.cells = {name: (row[place], units[place]) for place, name in wanted}
        launches.append(launch)
    return launches


def _details(
    rows: Iterator[list[str]], header: list[str], column: dict[str, int], sign: DecimalSign, report: Report
) -> list[_Raw]:
    launches: dict[tuple[str, str], _Raw] = {}
    process = column.get("Process ID", column["ID"])
    unit = column.get("Metric Unit")
    for row in rows:
        if len(row) != len(header):
            report.skipped_rows += bool(row) and not row[0].startswith("==")
            continue
        key = row[process], row[column["ID"]]
        launch = launches.get(key)
        if launch is None:
            launch = launches[key] = _Raw(_measured(row, column))
        value, metric = row[column["Metric Value"]], row[column["Metric Name"]]
        sign.see(value.strip())
        if is_wanted(metric):
            launch.cells.setdefault(metric, (value, row[unit] if unit is not None else ""))
    return list(launches.values())


def _measured(row: list[str], column: dict[str, int]) -> Measured:
    capability = row[column["CC"]].strip() if "CC" in column else ""
    major = re.match(r"\d+", capability)
    return Measured(
        row[column["Kernel Name"]].strip()[:_MAXIMUM_CELL],
        _triple(row, column, "Grid Size"),
        _triple(row, column, "Block Size"),
        int(major[0][:3]) if major else 0,
    )


def _triple(row: list[str], column: dict[str, int], name: str) -> Dimensions | None:
    match = _TRIPLE.match(row[column[name]].strip()) if name in column else None
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _finish(launch: _Raw, decimal_sign: str) -> None:
    measured = launch.measured
    for metric, (text, unit) in launch.cells.items():
        value = number_of(text, decimal_sign)
        # No counter is infinite, nor as large as 1e300, which a number of the file may be all the same.
        if value is not None and abs(size := scaled(value, unit)) < _MOST:
            measured.values[metric] = size
    # Older versions write the launch as metrics.
    measured.grid = measured.grid or _dimensions(measured.values, "grid")
    measured.block = measured.block or _dimensions(measured.values, "block")


def _dimensions(values: dict[str, float], what: str) -> Dimensions | None:
    lengths = [values.get(f"launch__{what}_dim_{axis}") for axis in "xyz"]
    if any(length is None for length in lengths):
        return None
    x, y, z = (int(length or 0) for length in lengths)
    return x, y, z
