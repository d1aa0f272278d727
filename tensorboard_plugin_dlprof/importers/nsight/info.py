"""Reads the metadata of an Nsight Systems export.

``TARGET_INFO_SYSTEM_ENV`` also holds the whole environment of the profiled process, with its keys and
tokens. Only the numbers of ``_RANK_VARIABLES`` and ``_WORLD_SIZE_VARIABLES`` are ever taken out of it.
"""

from __future__ import annotations

import re

from tensorboard_plugin_dlprof.events.tables import CaptureInfo
from tensorboard_plugin_dlprof.importers.nsight.export import Export
from tensorboard_plugin_dlprof.opening.masking import mask_command_line

_ENVIRONMENT = "DeviceEnvironment"

_RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
_WORLD_SIZE_VARIABLES = ("WORLD_SIZE",)

_LONGEST_FACT = 200

_TRACES_CUDA = {"COLLECT_CUDA_TRACE": "true", "PROCESS_0:COLLECT_CUDA_TRACE": "true", "CAPTURE_EVENT_TYPE": "Cuda"}
"""Facts of ``META_DATA_CAPTURE``, of which each says that CUDA was traced. Since 2026 the first two do so no more."""

_WARNING, _ERROR = 2, 3
"""Severities of ``DIAGNOSTIC_EVENT``."""

_ANALYSIS = 3
"""Source of those texts in ``DIAGNOSTIC_EVENT`` that sum up what came of the trace, and not why."""

_PROPERTIES = ("CpuDescription", "NvDriverVersion", "CudaDriverVersion", "Hostname")
"""The properties of the target that are read."""


def read_info(export: Export, rank_in_name: int) -> CaptureInfo:
    """The facts in the export about tool, machine and job.

    Args:
        rank_in_name: for an export that does not tell its rank.
    """
    target = _facts(_properties(export, "TARGET_INFO_SYSTEM_ENV", _PROPERTIES))
    dlprof = _facts(_dlprof_system_info(export))
    environment = _environment(export)
    cpu = dlprof["cpuModel"] or target.get("CpuDescription", "")
    rank = _first_number(environment, _RANK_VARIABLES)
    version = dlprof["nsysVersion"] or _product_version(export)
    return CaptureInfo(
        source_format="nsight_systems",
        utc_start_ns=_positive(export, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"),
        tool_version=version,
        framework=dlprof["framework"],
        cuda_version=dlprof["cudaVersion"] or cuda_version(target.get("CudaDriverVersion", "")),
        driver_version=dlprof["driverVersion"] or driver_version(target.get("NvDriverVersion", "")),
        cudnn_version=dlprof["cudnnVersion"],
        nsys_version=version,
        cpu_model="" if cpu == "unknown" else cpu,
        host_name=target.get("Hostname", ""),
        rank=rank if rank >= 0 else rank_in_name,
        world_size=_first_number(environment, _WORLD_SIZE_VARIABLES),
    )


def session_ns(export: Export) -> int:
    """Duration of the session; -1 if unknown."""
    return _positive(export, "ANALYSIS_DETAILS", "duration")


def reported(export: Export, *, launched: bool) -> str:
    """What came of tracing CUDA where no GPU work is in the export, as it follows on "nsys traced CUDA, and".

    Errors and warnings of Nsight Systems, one of each, else that it recorded nothing, unless calls were recorded that
    launch work (``launched``), which are told elsewhere. Empty unless CUDA was to be traced.
    """
    if not _TRACES_CUDA.items() & set(_pairs(export, "META_DATA_CAPTURE", tuple(_TRACES_CUDA))):
        return ""
    events = [
        (row["source"] == _ANALYSIS, text.startswith("No "), _positive_number(row["timestamp"]), severity, text.strip())
        for row in export.rows("DIAGNOSTIC_EVENT", ("timestamp", "severity", "source", "text"))
        if isinstance(text := row["text"], str) and ("CUDA" in text or "CUPTI" in text)
        if (severity := _positive_number(row["severity"])) in (_WARNING, _ERROR)
    ]
    # That events are missing says less than why.
    severest = (min((each for each in events if each[3] == severity), default=None) for severity in (_ERROR, _WARNING))
    said = {str(each[3]): each[4].rstrip(".") for each in severest if each is not None}
    if said:
        return f"reports: {'; '.join(_facts(said).values())}"
    return "" if launched else "recorded no kernel, copy or memset"


def cuda_version(number: str) -> str:
    """``11.7`` for CUPTI's ``11070``; empty for 0, a machine without a driver."""
    if not number.isdecimal() or 0 < int(number) < 1_000:
        return number
    if int(number) == 0:
        return ""
    return f"{int(number) // 1_000}.{int(number) % 1_000 // 10}"


def driver_version(number: str) -> str:
    """``515.43.04`` for ``5154304`` (Linux), ``581.60`` for ``58160`` (Windows); a version with dots stays as it is.

    Only the dots are missing: the first part has three digits, the third, if any, two, and the second the rest
    (``525.105.17`` is ``52510517``, ``440.100`` is ``440100``). Empty for 0, a machine without a driver.
    """
    if not number.isdecimal():
        return number
    if int(number) == 0:
        return ""
    if len(number) in (7, 8):
        return f"{number[:3]}.{number[3:-2]}.{number[-2:]}"
    if len(number) in (5, 6):
        return f"{number[:3]}.{number[3:]}"
    return number


def _product_version(export: Export) -> str:
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        if version := _properties(export, table, ("EXPORT_PRODUCT_VERSION",)):
            return _facts(version)["EXPORT_PRODUCT_VERSION"]
    return ""


def _properties(export: Export, base: str, names: tuple[str, ...]) -> dict[str, str]:
    """The first value of each of these names in a table of names and values."""
    return dict(reversed(_pairs(export, base, names)))


def _pairs(export: Export, base: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Those names and values of a table that have one of these names; it may have secrets under other names."""
    table = export.table(base)
    if table is None or not (export.has_column(table, "name") and export.has_column(table, "value")):
        return []
    places = ", ".join("?" * len(names))
    statement = f'SELECT name, CAST(value AS TEXT) FROM "{table}" WHERE name IN ({places}) AND value IS NOT NULL'
    rows = export.con.execute(statement, names).fetchmany(1_000)
    return [(name, value.strip()) for name, value in rows]


def _facts(texts: dict[str, str]) -> dict[str, str]:
    """Names and versions, cut to a short length and at any NUL, so that no secret is read along with them."""
    return {name: mask_command_line(text.partition("\0")[0][:_LONGEST_FACT]) for name, text in texts.items()}


def _dlprof_system_info(export: Export) -> dict[str, str]:
    """The facts in the table that DLProf adds to an export."""
    names = ("driverVersion", "cudaVersion", "cudnnVersion", "framework", "nsysVersion", "cpuModel")
    rows = export.rows("SystemInfo", names)
    first = rows[0] if rows else {}
    return {name: value if isinstance(value := first.get(name), str) else "" for name in names}


def _environment(export: Export) -> dict[str, int]:
    """The allowed environment variables and nothing else. Older exports separate variables by NUL, newer by ``;``."""
    text = _properties(export, "TARGET_INFO_SYSTEM_ENV", (_ENVIRONMENT,)).get(_ENVIRONMENT, "")
    allowed = "|".join(_RANK_VARIABLES + _WORLD_SIZE_VARIABLES)
    pairs = re.findall(rf"(?:\A|[\0;\n])({allowed})=(\d{{1,9}})(?=\Z|[\0;\n])", text)
    return {name: int(number) for name, number in reversed(pairs)}


def _first_number(numbers: dict[str, int], names: tuple[str, ...]) -> int:
    return next((numbers[name] for name in names if name in numbers), -1)


def _positive(export: Export, base: str, column: str) -> int:
    values = (_positive_number(row[column]) for row in export.rows(base, (column,)))
    return next((value for value in values if value > 0), -1)


def _positive_number(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 1 << 62 else -1
