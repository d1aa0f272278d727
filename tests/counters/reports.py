"""CSVs as Nsight Compute writes them, with the columns of its raw page and of its details page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_PREAMBLE = "==PROF== Connected to process 1234 (/usr/bin/python3)\nepoch 1, loss 0.5\n==PROF== Disconnected\n"
_LAUNCH = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
           "Grid Size", "Device", "CC")  # fmt: skip


@dataclass
class Launch:
    """One launch and its metrics as text."""

    name: str
    values: Mapping[str, str] = field(default_factory=dict)
    grid: str = "(8, 1, 1)"
    block: str = "(256, 1, 1)"
    capability: str = "8.0"

    def cells(self, number: int) -> list[str]:
        """The columns that both pages have."""
        about = [str(number), "1234", "python3", "127.0.0.1", self.name, "1", "7"]
        return [*about, self.block, self.grid, "0", self.capability]


def raw_page(launches: Sequence[Launch], units: Mapping[str, str]) -> str:
    """``ncu --csv --page raw``: a column for each metric, the units below the header."""
    rows: list[list[str]] = [[*_LAUNCH, *units], ["" for _ in _LAUNCH] + list(units.values())]
    rows += [
        [*launch.cells(number), *(launch.values.get(metric, "n/a") for metric in units)]
        for number, launch in enumerate(launches)
    ]
    return _PREAMBLE + _written(rows)


def details_page(launches: Sequence[Launch], units: Mapping[str, str]) -> str:
    """``ncu --csv``: a row for each metric of each launch."""
    rows = [[*_LAUNCH, "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name"]]
    for number, launch in enumerate(launches):
        rows += [
            [*launch.cells(number), "Command line profiler metrics", metric, units.get(metric, ""), value, ""]
            for metric, value in launch.values.items()
        ]
        # The advice of a section has no metric.
        rows.append([*launch.cells(number), "SpeedOfLight", "", "", "", "SOLBottleneck"])
    return _PREAMBLE + _written(rows)


def _written(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()
