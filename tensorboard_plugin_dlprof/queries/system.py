"""The machine and the software that a profile was recorded with."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import TypedDict

from tensorboard_plugin_dlprof.classify.architecture import HIP, is_amd, matrix_unit_of
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.queries.extension import info

_CONFIG_LABELS = (
    ("profile_name", "Profile Name"),
    ("num_gpus", "GPU Count"),
    ("cpu_model", "CPU"),
    ("driver_version", "GPU Driver"),
    ("framework", "Framework"),
    ("cuda_version", "CUDA"),
    ("cudnn_version", "cuDNN"),
    ("nsys_version", "Nsight Systems"),
    ("dlprof_version", "DLProf"),
)


class SystemFact(TypedDict):
    """One line of the system configuration."""

    key: str
    label: str
    value: str


def system_facts(connection: sqlite3.Connection) -> list[SystemFact]:
    """The known facts about the machine, the software and this viewer; unknown facts are left out."""
    cursor = connection.execute(f"SELECT {', '.join(key for key, _ in _CONFIG_LABELS)} FROM view_system_config")
    config = cursor.fetchone() or ("",) * len(_CONFIG_LABELS)
    facts = [
        _fact(key, label, str(value))
        for (key, label), value in zip(_CONFIG_LABELS, config, strict=True)
        if value not in (None, "", 0, "0")
    ]
    names = gpu_names(connection)
    if names:
        counted = [f"{count} x {name}" if count > 1 else name for name, count in Counter(names).items()]
        place = sum(fact["key"] in ("profile_name", "num_gpus") for fact in facts)
        facts.insert(place, SystemFact(key="gpu_name", label="GPU", value=", ".join(counted)))
    versions = connection.execute("SELECT current_version FROM view_db_version").fetchone()
    if versions and versions[0]:
        facts.append(SystemFact(key="database_version", label="Database", value=str(versions[0])))
    facts.append(SystemFact(key="viewer_version", label="Viewer", value=VERSION))
    return facts


ROCM = "ROCm (HIP)"
"""What AMD's runtime is called among the facts."""


def _fact(key: str, label: str, value: str) -> SystemFact:
    if key == "cuda_version" and value.startswith(HIP):
        return SystemFact(key=key, label=ROCM, value=value.removeprefix(HIP).strip() or "version not recorded")
    return SystemFact(key=key, label=label, value=value)


def profile_title(connection: sqlite3.Connection) -> str:
    """The name that the user gave to the profile; may be empty."""
    row = connection.execute("SELECT profile_name FROM view_system_config").fetchone()
    return str(row[0]) if row and isinstance(row[0], str) else ""


MOST_GPUS = 64
MOST_NAME_LETTERS = 200


def gpu_names(connection: sqlite3.Connection) -> list[str]:
    """The name of each GPU, sorted; GPUs without a name are left out.

    A machine has at most 16 GPUs. More, and longer names, are cut, because the list of profiles holds them all.
    """
    rows = connection.execute("SELECT gpu_name FROM view_gpu_names").fetchmany(MOST_GPUS)
    return [str(row[0])[:MOST_NAME_LETTERS] for row in rows if row[0]]


def matrix_unit(connection: sqlite3.Connection) -> str:
    """The vendor's name for its matrix units, found by the name of the GPU, else by that of the runtime."""
    row = connection.execute("SELECT cuda_version FROM view_system_config").fetchone()
    return matrix_unit_of(gpu_names(connection), str(row[0]) if row else "")


def has_matrix_units(connection: sqlite3.Connection) -> bool:
    """Whether the GPUs have matrix units; True if that is unknown. NVIDIA's came with compute capability 7.0."""
    rows = connection.execute("SELECT gpu_name, cuda_major FROM view_gpu_devices").fetchmany(MOST_GPUS)
    old = [isinstance(major, int) and 0 < major < 7 and not is_amd(str(name)) for name, major in rows]
    return not old or not all(old)


_OF_LIBRARIES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "eigen": "TensorFlow", "tensorrt": "TensorRT"}
"""The framework that kernels of a library belong to. PyTorch and TensorFlow call TensorRT for parts of a model, so they
come first."""


def framework(connection: sqlite3.Connection) -> str | None:
    """``PyTorch``, ``TensorFlow``, ``JAX`` or ``TensorRT``, from the source or names of kernels; None if unknown."""
    row = connection.execute("SELECT framework FROM view_system_config").fetchone()
    reported = str(row[0] or "").lower() if row else ""
    for name in ("PyTorch", "TensorFlow", "JAX", "TensorRT"):
        if reported.startswith(name.lower()):
            return name
    if info(connection).get("dlprof_markers") == "1":
        return "PyTorch"
    rows = connection.execute("SELECT DISTINCT library FROM ext_kernel_names")
    libraries = {str(row[0]) for row in rows.fetchmany(1_000)}
    return next((name for library, name in _OF_LIBRARIES.items() if library in libraries), None)
