"""The shorter answers: lists, tables, the summary report, checks, kernels, the machine."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tensorboard_plugin_dlprof.cli.answers.units import Bytes, Cell, Fraction, Ns


class Headline(Struct):
    """The key numbers of a profile."""

    gpu_names: list[str]
    wall_time_ns: Ns | None
    iterations: int | None
    average_iteration_ns: Ns | None
    gpu_utilization_fraction: Fraction | None
    tensor_core_time_fraction: Fraction | None


class Progress(Struct):
    """How far an import is."""

    stage: str
    fraction: Fraction
    elapsed_s: float


class Profile(Struct):
    """A profile of a log directory."""

    id: str
    run: str
    name: str
    kind: Literal["source", "database", "metadata"]
    format: str
    rank: int | None
    world_size: int | None
    captured_at: float | None
    size_bytes: Bytes | None
    state: Literal["ready", "not_imported", "queued", "importing", "failed", "metadata_only"]
    code: str
    message: str
    progress: Progress | None
    headline: Headline | None


class Seen(Struct):
    """A file that is no profile, or the database of a job."""

    run: str
    name: str


class Scan(Struct):
    """How the log directory was searched."""

    state: Literal["done", "scanning"]
    directories: int
    finished_at: float | None
    truncated: bool
    refused: list[Seen]
    reports: list[Seen]
    jobs: list[Seen]
    remote: list[str]


class ProfileList(Struct):
    """The profiles below a log directory."""

    profiles: list[Profile]
    scan: Scan
    import_mode: Literal["auto", "off"]
    version: str


class Column(Struct):
    """A column of a table; ``type`` tells the unit: ``duration_ns``, ``fraction`` (0 to 1), ``bytes``."""

    key: str
    label: str
    type: str
    description: str
    sortable: bool
    filterable: bool
    searchable: bool
    hidden: bool
    tier: int


class Page(Struct):
    """A page of a table. ``rows`` have the keys of ``columns``; ``totals`` are of all rows that pass, ``constant``
    the columns in which all rows of the table are alike."""

    table: str
    columns: list[Column]
    rows: list[dict[str, Cell]]
    key: str
    offset: int
    total: int
    filtered: int
    sort: str
    totals: dict[str, Cell]
    constant: list[str]


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
    kind: Literal["database", "source", "unknown"]
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


Report = dict[str, list[dict[str, Cell | list[str]]] | dict[str, Cell | list[str]]]
"""A report of DLProf: its blocks by title, each a list of rows, or values by their labels. Keys are the headings of the
CSV, which name their units; booleans are ``yes`` and ``no``."""
