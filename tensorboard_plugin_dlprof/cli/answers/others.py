"""The shorter answers: the summary report, checks, kernels, the machine."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tensorboard_plugin_dlprof.cli.answers.units import Cell, Ns


class OpSum(Struct, rename={"name": "Name", "gpu_ns": "GPU Time (ns)", "cpu_ns": "CPU Time (ns)", "ops": "# Ops"}):
    """A row of the summary report about ops."""

    name: str
    gpu_ns: Ns | None
    cpu_ns: Ns | None
    ops: int | None


class KernelSum(
    Struct, rename={"name": "Name", "gpu_ns": "GPU Time (ns)", "cpu_ns": "CPU Time (ns)", "kernels": "# Kernels"}
):
    """A row of the summary report about kernels."""

    name: str
    gpu_ns: Ns | None
    cpu_ns: Ns | None
    kernels: int | None


class Summary(
    Struct,
    rename={
        "system": "System Config",
        "times": "Summary Report",
        "iterations": "Iterations",
        "ops": "All Ops",
        "kernels": "All Kernels",
    },
):
    """DLProf's summary report: values by the labels of the report, which name their units."""

    system: dict[str, Cell | list[str]]
    times: dict[str, Cell]
    iterations: dict[str, Cell]
    ops: list[OpSum]
    kernels: list[KernelSum]


class Check(Struct):
    """A check and its result."""

    check: str
    verdict: Literal["passed", "failed", "skipped"]
    message: str


class Checked(Struct):
    """The checks of a file, what it holds, and what is missing from it."""

    file: str
    kind: Literal["database", "source", "job", "unknown"]
    passed: bool
    checks: list[Check]
    holds: dict[str, int | str]
    missing: list[str]


class Kernel(Struct):
    """What the name of a kernel tells."""

    name: str
    matrix_unit: Literal["no", "yes", "unknown"]
    family: str
    precision: str | None
    library: str | None
    architecture: str | None
    rule: str


Machine = dict[str, str | bool]
"""Facts for a bug report, by their names, and whether the small profile was ``passed``."""


class CacheUsage(Struct):
    """The databases that TensorBoard imported on demand."""

    folder: str
    databases: int
    size_bytes: int
    max_bytes: int
    removed: bool
    """Whether these databases have been deleted."""


Report = dict[str, list[dict[str, Cell | list[str]]] | dict[str, Cell | list[str]]]
"""A report of DLProf: its blocks by title, each a list of rows, or values by their labels. Keys are the headings of the
CSV, which name their units; booleans are ``yes`` and ``no``."""
